/** A repository whose shadow has files of all kinds, and these files, torn as a power failure leaves them. */
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is left of a file. */
const TEARS = {
  empty: () => Buffer.alloc(0),
  half: (whole) => whole.subarray(0, Math.floor(whole.length / 2)),
  '60 bytes': (whole) => whole.subarray(0, 60),
  zeros: (whole) => Buffer.alloc(whole.length),
  garbage: (whole) => Buffer.from(whole.map((byte, at) => (byte * 31 + at * 17 + 7) & 0xff)),
  missing: () => undefined,
} satisfies Record<string, (whole: Buffer) => Buffer | undefined>;
export type Tear = keyof typeof TEARS;
export const EVERY_TEAR = Object.keys(TEARS) as Tear[];

const ID = /^[0-9a-f]{38,}$/;

/** The kind of a file, by its path in the shadow. All single objects that a capture made are of one kind. */
const kindOf = (path: string): string => {
  const parts = path.split('/');
  if (parts[0] === 'objects' && ID.test(parts.at(-1) ?? '')) return 'objects/*';
  return path
    .replace(/pack-[0-9a-f]+/, '*')
    .replace(/chkpt\/.*/, 'chkpt/*')
    .replace(/^borrowed\/\d+\.[0-9a-f]{2}$/, 'borrowed/N.XX');
};

const filesIn = (directory: string, below = ''): string[] =>
  readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? filesIn(directory, path) : [path];
  });

export const kindsIn = (shadow: string): string[] => [...new Set(filesIn(shadow).map(kindOf))].toSorted();

/** Answers how many files it tore. */
export const tearAll = (shadow: string, kind: string, tear: Tear): number => {
  const chosen = filesIn(shadow).filter((path) => kindOf(path) === kind);
  for (const path of chosen) {
    const file = join(shadow, path);
    chmodSync(file, 0o644);
    const { atime, mtime, size } = statSync(file);
    const left = TEARS[tear](readFileSync(file));
    if (left === undefined) rmSync(file);
    else if (size > 0) writeFileSync(file, left);
    // The times were written, the content was not.
    if (left !== undefined) utimesSync(file, atime, mtime);
  }
  return chosen.length;
};

/** A staged file, a branch, modes, an empty directory, what is ignored, what is tracked although it is ignored, and enough that changes have no short lists. */
export const MAKE = `mkdir app; cd app; git init -qb main; git config user.name a; git config user.email a@x
mkdir -p src/deep; for n in 1 2 3 4 5 6 7 8 9; do echo $n >src/f$n; echo $n >src/deep/g$n; done; echo '*.log' >.gitignore
git add .; echo kept >kept.log; git add -f kept.log; git commit -qm one; echo run >run; chmod 700 run; mkdir empty; echo log >x.log`;
/** Objects of a shadow that was brought in, or packed, are in a pack. */
export const pack = (shadow: string): string => `GIT_DIR=${shadow} GIT_WORK_TREE=. git repack -qdl`;
export const WORK =
  'echo two >src/f1; rm src/f2; mkdir new; echo n >new/n; git checkout -qb topic; git add .; git commit -qm two; echo staged >staged; git add staged; chmod 755 src/f3';
export const dirty = (n: number): string =>
  `echo dirty-${n} >src/f4; echo new-${n} >new/n${n}; rm -f new/n${n - 1}; echo at-${n} >src/deep/g5`;
