/** A git that counts its calls while armed, and at one of them kills the program that called it. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandPath } from './command-path.ts';

export const mortalProgram = () => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  // Several repositories are worked on at once: a number belongs to whoever makes its file.
  const script = `#!/bin/bash
if [ -e ${bin}/armed ]; then
  call=1
  until (set -C; : > ${bin}/call.$call) 2>/dev/null; do call=$((call + 1)); done
  if [ $call = "$(< ${bin}/armed)" ]; then kill -9 $PPID; exit 1; fi
fi
exec ${commandPath('git')} "$@"
`;
  writeFileSync(`${bin}/git`, script, { mode: 0o755 });
  return {
    env: { PATH: `${bin}:${process.env['PATH']}` },
    /** Counts from now on, and until this work is over. */
    dieAt: async <Answer>(call: number, work: () => Promise<Answer>): Promise<Answer> => {
      writeFileSync(`${bin}/armed`, String(call));
      try {
        return await work();
      } finally {
        rmSync(`${bin}/armed`);
        for (const name of readdirSync(bin)) if (name.startsWith('call.')) rmSync(join(bin, name));
      }
    },
    [Symbol.dispose]: () => rmSync(bin, { recursive: true }),
  };
};
