/** Another process that acts at an exact instant of a restore: around the one command that gives new files their names. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandPath } from './command-path.ts';

const realPath = (name: string): string => {
  const found = commandPath(name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A PATH in which this command is a bash script. `$real` is the command itself; it is called with the script's arguments. */
export const replacedCommand = (name: string, script: string) => replacedCommands({ [name]: script });

/** The same for several commands, of which the first that removes `$armed` is the only one that acts. */
const replacedCommands = (scripts: Record<string, string>) => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  const armed = join(bin, 'armed');
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(
      join(bin, name),
      `#!/bin/bash\nreal=${realPath(name)} armed=${armed}\n[ -e "$armed" ] || exec "$real" "$@"\n${script}`,
      { mode: 0o755 },
    );
  }
  return {
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    /** From now on the script runs instead of the command, until it removes `$armed`. */
    arm: () => writeFileSync(armed, ''),
    isArmed: () => existsSync(armed),
    /** Whether the script made a file of this name, `$armed.NAME`. */
    left: (name: string) => existsSync(`${armed}.${name}`),
    [Symbol.dispose]: () => rmSync(bin, { recursive: true, force: true }),
  };
};

/** Of few files, one process puts the old ones aside and gives the new ones their names. */
const EXCHANGE = `[[ " $* " == *' lenient '* ]] || exec "$real" "$@"\nrm "$armed"\n`;

/** Where it makes the first link. */
const LINK = 'if (link ';

/** The native program asks for the sizes of new contents, and then gives the files their names. */
const beforeSizes = (script: string): string =>
  `[[ " $* " == *'--batch-check='*objectsize* ]] || exec "$real" "$@"\nrm "$armed"\n${script}\nexec "$real" "$@"\n`;

/** Bash that runs in a repository of which nothing is there, once, just before what is in it gets its names. */
export const beforeFilling = (script: string) =>
  replacedCommands({
    git: beforeSizes(script),
    mv: `[[ $1 == -n ]] || exec "$real" "$@"\nrm "$armed"\n${script}\nexec "$real" "$@"\n`,
  });

/** Bash that runs in the repository once, just before the new files get their names. */
export const beforePlacing = (script: string) =>
  replacedCommands({
    git: beforeSizes(script),
    cp: `[[ $1 == -rl* ]] || exec "$real" "$@"\nrm "$armed"\n${script}\nexec "$real" "$@"\n`,
    perl: `${EXCHANGE}export ACT=${quoted(script)}
first='system("/bin/bash", "-c", $ENV{ACT}) if not $main::acted++; ${LINK}'
[[ $2 == *'${LINK}'* ]] || exit 98
exec "$real" -e "\${2/'${LINK}'/"$first"}" "\${@:3}"\n`,
  });

/** The same, when they have them. */
export const afterPlacing = (script: string) =>
  replacedCommands({
    // The native program moves branches when the files have theirs.
    git: `[[ " $* " == *' update-ref '* ]] || exec "$real" "$@"\nrm "$armed"\n${script}\nexec "$real" "$@"\n`,
    find: `[[ " $* " == *' -links '* ]] || exec "$real" "$@"\nrm "$armed"\n"$real" "$@"\nstatus=$?\n${script}\nexit $status\n`,
    perl: `${EXCHANGE}"$real" "$@"\nstatus=$?\n${script}\nexit $status\n`,
  });
