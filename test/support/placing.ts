/** Another process that acts at an exact instant of a restore: around the one command that gives new files their names. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const realPath = (name: string): string => {
  const places = (process.env['PATH'] ?? '').split(':').map((place) => join(place, name));
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

/** A PATH in which this command is a bash script. `$real` is the command itself; it is called with the script's arguments. */
export const replacedCommand = (name: string, script: string) => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  const armed = join(bin, 'armed');
  writeFileSync(
    join(bin, name),
    `#!/bin/bash\nreal=${realPath(name)} armed=${armed}\n[ -e "$armed" ] || exec "$real" "$@"\n${script}`,
    { mode: 0o755 },
  );
  return {
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    /** From now on the script runs instead of the command, until it removes `$armed`. */
    arm: () => writeFileSync(armed, ''),
    isArmed: () => existsSync(armed),
    [Symbol.dispose]: () => rmSync(bin, { recursive: true, force: true }),
  };
};

/** Bash that runs in the repository once, just before the new files get their names. */
export const beforePlacing = (script: string) =>
  replacedCommand('cp', `[[ $1 == -rl* ]] || exec "$real" "$@"\nrm "$armed"\n${script}\nexec "$real" "$@"\n`);

/** The same, when they have them. */
export const afterPlacing = (script: string) =>
  replacedCommand(
    'find',
    `[[ " $* " == *' -links '* ]] || exec "$real" "$@"\nrm "$armed"\n"$real" "$@"\nstatus=$?\n${script}\nexit $status\n`,
  );
