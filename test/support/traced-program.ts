/** The native program under `strace`, which kills it at one of its calls of the system. Processes of git are not traced. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSync } from './run-sync.ts';

const REAL = join(
  import.meta.dirname,
  `../../sandbox/prebuilt/walkback-sandbox-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`,
);

/** Whether `strace` is here and may trace. */
export const canTrace = (): boolean => {
  try {
    runSync('strace', ['-qq', '-o', '/dev/null', '-e', 'trace=write', 'true'], {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
    });
    return true;
  } catch {
    return false;
  }
};

export const tracedProgram = () => {
  const place = mkdtempSync(join(tmpdir(), 'walkback-traced-'));
  const [traced, wrap] = [join(place, 'traced'), join(place, 'wrap')];
  const prefix: string[] = [];
  // Of a shell and its text, the program is another one.
  writeFileSync(wrap, `#!/bin/bash\nexec "$1" "$2" "\${3//${REAL.replaceAll('/', '\\/')}/${traced}}"\n`, {
    mode: 0o755,
  });
  return {
    /** Of the harness's commands. */
    prefix,
    /** At the so-manieth of these calls of its first thread, while this work is done. */
    dieAt: async <Answer>(
      calls: readonly string[],
      at: number,
      work: () => Promise<Answer>,
    ): Promise<Answer> => {
      // Not every architecture has all of them.
      const set = calls.map((call) => `?${call}`).join(',');
      writeFileSync(
        traced,
        `#!/bin/sh\nexec strace -qq -o /dev/null -e trace=${set} -e inject=${set}:signal=KILL:when=${at} ${REAL} "$@"\n`,
        { mode: 0o755 },
      );
      prefix.push(wrap);
      try {
        return await work();
      } finally {
        prefix.length = 0;
      }
    },
    [Symbol.dispose]: () => rmSync(place, { recursive: true }),
  };
};
