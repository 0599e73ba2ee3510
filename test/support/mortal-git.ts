/** A git that counts its calls while armed, and at one of them kills its process group and whoever started it: a
 * sandbox whose shell is killed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandPath } from './command-path.ts';

export const mortalGit = () => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  const script = `#!/bin/bash
if [ -e ${bin}/armed ]; then
  echo >> ${bin}/calls
  [ "$(wc -l < ${bin}/calls)" -lt "$(< ${bin}/armed)" ] || kill -9 $PPID 0
fi
exec ${commandPath('git')} "$@"
`;
  writeFileSync(`${bin}/git`, script, { mode: 0o755 });
  return {
    env: { PATH: `${bin}:${process.env['PATH']}` },
    dieAt: (call: number) => {
      rmSync(`${bin}/calls`, { force: true });
      writeFileSync(`${bin}/armed`, String(call));
    },
    live: () => rmSync(`${bin}/armed`, { force: true }),
    [Symbol.dispose]: () => rmSync(bin, { recursive: true }),
  };
};
