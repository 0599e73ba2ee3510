/** Another process that acts at an exact instant of a restore: around the one at which new files get their names. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandPath } from './command-path.ts';

const realPath = (name: string): string => {
  const found = commandPath(name);
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
    /** From now on the script runs instead of the command, until it removes `$armed`, which has this text. */
    arm: (text = '') => writeFileSync(armed, text),
    isArmed: () => existsSync(armed),
    /** Whether the script made a file of this name, `$armed.NAME`. */
    left: (name: string) => existsSync(`${armed}.${name}`),
    [Symbol.dispose]: () => rmSync(bin, { recursive: true, force: true }),
  };
};

/** Makes links of the files of all objects below `$1`. Git follows them. The program does not, and asks git. */
const LINK_OBJECTS = `find "$1" -type f '(' -path '*/objects/??/*' -o -path '*/objects/pack/*' ')' -exec bash -c 'for i; do mv "$i" "$i.real"; ln -s "$i.real" "$i"; done' bash {} +`;
/** Puts the files back. */
const UNLINK_OBJECTS = `find "$root" -name '*.real' -exec bash -c 'for i; do mv -f "$i" "\${i%.real}"; done' bash {} +`;

/**
 * Bash that runs in the repository once, just before new files get their names: the program asks for the sizes of their
 * contents, or for all of them at once, and then gives the names. It asks for contents that it cannot read by itself, so from
 * `arm` on it can read none below this root.
 */
export const beforePlacing = (script: string) => {
  const replaced = replacedCommand(
    'git',
    `[[ " $* " == *'--batch-check='*objectsize* || " $* " == *' --batch --buffer ' ]] || exec "$real" "$@"\nroot=$(<"$armed")\nrm "$armed"\n${UNLINK_OBJECTS}\n${script}\nexec "$real" "$@"\n`,
  );
  return {
    ...replaced,
    arm: (root: string) => {
      execFileSync('bash', ['-c', LINK_OBJECTS, 'bash', root]);
      replaced.arm(root);
    },
  };
};

/** The same, when they have them: the program moves branches then. */
export const afterPlacing = (script: string) =>
  replacedCommand(
    'git',
    `[[ " $* " == *' update-ref '* ]] || exec "$real" "$@"\nrm "$armed"\n${script}\nexec "$real" "$@"\n`,
  );
