/**
 * Works on the files of its directory as fast as it can, in many ways, until it is told to stop: `go` and `stop` come as
 * messages, and each is answered when it is done.
 */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { randomFrom } from './racing-writer.ts';

const random = randomFrom(Number(process.argv[2] ?? 1));
const below = (most: number): number => Math.floor(random() * most);
const file = (): string => `d${below(4)}/f${below(6)}`;
const word = (): string => String(below(90_000) + 10_000);

/** With the times that it had: only the change time tells. */
const withOldTimes = (path: string, write: () => void): void => {
  const { atime, mtime } = statSync(path);
  write();
  utimesSync(path, atime, mtime);
};

/** Files that stay open. The name of one may be gone, or another file's, when it is written. */
const held: number[] = [];

const ACTS: (() => void)[] = [
  () => {
    if (held.length > 2) closeSync(held.shift() ?? -1);
    held.push(openSync(file(), 'r+'));
  },
  () => {
    const open = held[below(held.length)];
    if (open !== undefined) writeSync(open, word(), below(3));
  },
  () => {
    const open = held[below(held.length)];
    if (open !== undefined) ftruncateSync(open, below(4));
  },
  () => appendFileSync(file(), `${word()}\n`),
  () => writeFileSync(file(), word()),
  () => truncateSync(file(), below(4)),
  () => {
    const path = file();
    withOldTimes(path, () => {
      const open = openSync(path, 'r+');
      writeSync(open, word(), 0);
      closeSync(open);
    });
  },
  () => {
    // Another file of the same size and time in its place.
    const path = file();
    copyFileSync(path, 'beside');
    const { atime, mtime } = statSync(path);
    writeFileSync(
      'beside',
      readFileSync(path, 'latin1').replaceAll(/\d/g, () => String(below(10))),
    );
    utimesSync('beside', atime, mtime);
    renameSync('beside', path);
  },
  () => renameSync(file(), file()),
  () => chmodSync(file(), below(2) === 0 ? 0o755 : 0o644),
  () => {
    const path = file();
    rmSync(path, { recursive: true });
    if (below(3) === 0) mkdirSync(path);
    else if (below(2) === 0) symlinkSync(word(), path);
    else writeFileSync(path, word());
  },
  () => rmSync(file(), { recursive: true }),
  () => {
    const [from, to] = [`d${below(4)}`, `d${below(4)}`];
    renameSync(from, 'moved');
    renameSync(to, from);
    renameSync('moved', to);
  },
  () => writeFileSync(`d${below(4)}/f${below(6)}/in`, word()),
];

let isStopped = true;
const work = (): void => {
  for (let times = 0; times < 8; times++) {
    try {
      ACTS[below(ACTS.length)]?.();
    } catch {
      // It is not there, or of another kind.
    }
    for (let at = 0; at < 4; at++) {
      try {
        mkdirSync(`d${at}`);
      } catch {
        // It is there.
      }
    }
  }
  if (isStopped) process.send?.('stopped');
  else setImmediate(work);
};
process.on('message', (message) => {
  if (message === 'stop') {
    isStopped = true;
    return;
  }
  isStopped = false;
  process.send?.('going');
  work();
});
process.on('disconnect', () => process.exit(0));
