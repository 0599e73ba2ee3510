/**
 * One external command of a restore fails, and what must hold then: the target is reached and looks as it did, or
 * everything is put back and told, or the sandbox is told broken; nothing is lost, no reason is empty or without the step,
 * and the same restore, asked again, arrives.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import {
  type CommandCall,
  type CommandFault,
  commandFaults,
  everyFault,
  faultName,
} from './command-faults.ts';
import { createHarness, type Harness, type Snapshot } from './git-harness.ts';
import { world } from './git-repositories.ts';
import { runSync } from './run-sync.ts';
import { chosenSeed } from './sampling.ts';

const APP = `git init -q -b main . && mkdir -p src/deep empty/inner && echo one > f && echo s > src/s && echo d > src/deep/d
echo x > run && chmod 755 run && echo p > private && chmod 600 private && git add -A && git commit -qm one
echo staged > f && git add f && echo later > f && ln -s f link`;

/** A merge that stopped at a conflict, with an entry staged beside it. */
const CONFLICT = `git init -q -b main . && echo base > c && echo k > kept && git add -A && git commit -qm base
git checkout -qb side && echo theirs > c && git commit -qam theirs && git checkout -q main && echo ours > c && git commit -qam ours
git merge side >/dev/null || true; echo st > staged && git add staged`;

const PLAIN = 'git init -q -b main . && echo g > g && git add -A && git commit -qm one';

/** Two states of the same repositories, and every one that is in one of them. */
interface Change {
  repositories: readonly string[];
  make: readonly (readonly [path: string, script: string])[];
  change: readonly (readonly [path: string, script: string])[];
  /** Made after `make`, and parked before `change`: they come back from there. */
  parked?: readonly (readonly [path: string, script: string])[];
}

const CHANGES = {
  /** They differ in everything a restore moves: a repository that goes, one that comes, one in the other. */
  everything: {
    repositories: ['app', 'app/inner', 'merge', 'gone'],
    make: [
      ['app', APP],
      ['app/inner', PLAIN],
      ['merge', CONFLICT],
    ],
    change: [
      [
        'app',
        'rm -rf empty link src/deep; echo two > f; git commit -qam two; git checkout -qb topic; mkdir f2; echo n > f2/n; chmod 700 f2; chmod 644 private run',
      ],
      ['.', 'rm -rf app/inner; mkdir gone'],
      ['merge', 'git merge --abort; echo more > more; rm kept'],
      ['gone', PLAIN],
    ],
  },
  /** They differ in everything that a restore moves in repositories that stay. */
  staying: {
    repositories: ['app', 'merge', 'same'],
    make: [
      ['app', APP],
      ['merge', CONFLICT],
      ['same', PLAIN],
    ],
    change: [
      [
        'app',
        'rm -rf empty link src/deep; echo two > f; git commit -qam two; git checkout -qb topic; mkdir f2; echo n > f2/n; chmod 700 f2; chmod 644 private run; mkdir src/s2; rm src/s; git branch -D main',
      ],
      ['merge', 'git merge --abort; echo more > more; rm kept'],
    ],
  },
  /** Files have another content, and nothing else is another: they are exchanged, and proven together. */
  contents: {
    repositories: ['one', 'two', 'many'],
    make: [
      ['one', `${PLAIN} && mkdir -p a/b && echo x > run && chmod 755 run && echo d > a/b/d && echo e > a/e`],
      ['two', PLAIN],
      ['many', `${PLAIN} && mkdir d && for i in {1..120}; do echo $i > d/$i; done && ln -s g link`],
    ],
    change: [
      ['one', 'echo two > run; echo two > a/b/d; : > a/e'],
      ['two', 'echo two > g'],
      ['many', 'for i in d/*; do echo two > $i; done; ln -sf d/1 link'],
    ],
  },
  /** Ignored files are in the way of the target, so the capture before it took them in. Others are no longer there. */
  hidden: {
    repositories: ['app'],
    make: [
      [
        'app',
        `${PLAIN} && mkdir -p d e q/r && echo k > q/r/k && for i in x y d/z w e/w; do echo one > $i.o; done && git add -A && git commit -qm o`,
      ],
    ],
    change: [
      [
        'app',
        `git rm -q --cached '*.o'; git rm -q -r --cached q; printf '%s\\n' '*.o' 'q/*' > .gitignore; rm -r w.o e q; for i in x d/z; do echo two > $i.o; done; echo two > g; git branch since`,
      ],
    ],
  },
  /** It has gone, with another one in it: both come where nothing is. */
  returning: {
    repositories: ['app', 'app/inner'],
    make: [
      ['app', APP],
      ['app/inner', PLAIN],
    ],
    change: [['.', 'rm -rf app']],
  },
  /** Two that nothing is around leave, and one stays. One of them is a linked worktree of that one. */
  leaving: {
    repositories: ['app', 'gone', 'tree'],
    make: [['app', APP]],
    change: [
      ['app', 'echo two > f; git commit -qam two; git worktree add -q ../tree -b topic'],
      ['.', 'mkdir gone'],
      ['gone', `${PLAIN} && mkdir empty && echo u > untracked`],
      ['tree', 'echo two > f; echo new > new'],
    ],
  },
  /** They come back from where they are parked, and one stays. */
  unparked: {
    repositories: ['app', 'gone', 'tree'],
    make: [['app', APP]],
    parked: [
      ['app', 'git worktree add -q ../tree -b topic'],
      ['.', 'mkdir gone'],
      ['gone', `${PLAIN} && mkdir -p empty d/e && echo e > d/e/f && echo p > private && chmod 600 private`],
      ['tree', 'echo two > f; echo new > new'],
    ],
    change: [['app', 'echo two > f; git commit -qam two']],
  },
  /** Files that git converts: their sizes are not those of their entries. */
  converted: {
    repositories: ['app', 'same'],
    make: [
      ['app', `${PLAIN} && for i in a b; do echo $i > $i.txt; done && git add -A && git commit -qm text`],
      ['same', `${PLAIN} && echo a > a.txt && git add -A && git commit -qm text`],
    ],
    change: [
      [
        'app',
        `echo '*.txt text eol=crlf' > .gitattributes; rm *.txt; git checkout -q -- a.txt b.txt; git add -A; git commit -qm x`,
      ],
      ['same', 'git config core.autocrlf true; rm a.txt; git checkout -q -- a.txt; echo two > g'],
    ],
  },
} as const satisfies Record<string, Change>;

export type Changed = keyof typeof CHANGES;

export const CHANGED = Object.keys(CHANGES) as Changed[];

interface FaultWorld {
  harness: Harness;
  looks: () => string[];
  faults: ReturnType<typeof commandFaults>;
  first: Snapshot;
  second: Snapshot;
  /** What the projects root looked like at `first`, and at `second`. */
  before: string[];
  after: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

const PLACE = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };

const faultWorld = async (changed: Changed): Promise<FaultWorld> => {
  const { repositories, make, parked, change }: Change = CHANGES[changed];
  const faults = commandFaults();
  const harness = await createHarness({ env: faults.env });
  const looks = (): string[] => world(harness, [...repositories]);
  for (const [path, script] of make) {
    mkdirSync(`${harness.root}/${path}`, { recursive: true });
    harness.sh(script, path);
  }
  const without = parked && (await harness.capture());
  for (const [path, script] of parked ?? []) harness.sh(script, path);
  const before = looks();
  const first = await harness.capture();
  if (without !== undefined) expect((await harness.rollback(without)).report.outcome).toBe('applied');
  for (const [path, script] of change) harness.sh(script, path);
  const after = looks();
  const second = await harness.capture(first);
  runSync('cp', ['-a', harness.root, `${harness.root}.saved`], PLACE);
  return {
    harness,
    looks,
    faults,
    first,
    second,
    before,
    after,
    [Symbol.asyncDispose]: async () => {
      faults[Symbol.dispose]();
      await harness[Symbol.asyncDispose]();
    },
  };
};

/** Puts the projects root back to `second`, whatever became of it. */
const reset = ({ harness }: FaultWorld): void => {
  runSync('/bin/sh', ['-c', 'rm -rf "$1" && cp -a "$1.saved" "$1"', 'sh', harness.root], PLACE);
};

/** The commands of the restore alone, not those of the capture before it. */
const callsOf = async (around: FaultWorld): Promise<CommandCall[]> => {
  const { harness, looks, faults, first, second, before } = around;
  let calls: CommandCall[] = [];
  const { report } = await harness.rollback(first, {
    from: second,
    around: async (restore) => {
      let said: RestoreReport | undefined;
      calls = await faults.record(async () => {
        said = await restore();
      });
      if (said === undefined) throw new Error('the restore said nothing');
      return said;
    },
  });
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(looks()).toEqual(before);
  return calls;
};

const silent = (report: RestoreReport): string[] =>
  report.problems
    .filter(({ message }) => /^\W*$/.test(message) || message.endsWith('said nothing'))
    .map(({ path }) => path);

/** Runs one fault; answers what became of the restore. */
const meetsFault = async (around: FaultWorld, fault: CommandFault): Promise<string> => {
  const { harness, looks, faults, first, second, before, after } = around;
  reset(around);
  const name = faultName(fault);
  let hit: string | undefined;
  let outcome: string;
  try {
    const { report } = await harness.rollback(first, {
      from: second,
      around: async (restore) => {
        const met = await faults.withFault(fault, restore);
        hit = met.hit;
        if (met.value === undefined) throw met.error;
        return met.value;
      },
    });
    outcome = report.outcome;
    const where = `${name}: ${hit}: ${JSON.stringify(report.problems)}`;
    expect(silent(report), where).toEqual([]);
    if (outcome === 'applied') expect(looks(), where).toEqual(before);
    else expect(report.problems.length, where).toBeGreaterThan(0);
    if (outcome === 'refused' || outcome === 'reverted') expect(looks(), where).toEqual(after);
  } catch (error) {
    if (!isWalkbackError(error)) throw error;
    expect(error.retryable, `${name}: ${hit}: ${error.message}`).toBe(true);
    outcome = 'no answer';
  }
  // The same again, with nothing in its way.
  const there = await harness.rollback(first);
  expect([there.report.outcome, there.report.problems], `${name}: ${hit}: again`).toEqual(['applied', []]);
  expect(looks(), `${name}: ${hit}: again`).toEqual(before);
  // Nobody wrote meanwhile, so nothing that was put aside is kept.
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`), `${name}: ${hit}: again`).toBe(false);
  return hit === undefined ? 'not met' : outcome;
};

/** About so many of all faults, others with each seed. */
export const restoreFaults = async (count: number, changed: Changed): Promise<void> => {
  await using around = await faultWorld(changed);
  const faults = everyFault(await callsOf(around));
  const seed = chosenSeed();
  const every = Math.max(1, Math.ceil(faults.length / count));
  process.stderr.write(`${faults.length} faults, one of ${every}, SEED=${seed}\n`);
  const wrong: string[] = [];
  const outcomes = new Map<string, number>();
  let ran = 0;
  for (const fault of faults.filter((_, index) => index % every === seed % every)) {
    const outcome = await meetsFault(around, fault).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      wrong.push(String(error));
      return 'wrong';
    });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    ran += 1;
  }
  expect(wrong).toEqual([]);
  expect(ran).toBeGreaterThanOrEqual(Math.min(count, faults.length) / 2);
  process.stderr.write(`${JSON.stringify([...outcomes])}\n`);
};

/** The last call of git with this word among its arguments fails, and everything is put back. */
export const isPutBack = async (changed: Changed, about: string): Promise<void> => {
  await using around = await faultWorld(changed);
  const calls = (await callsOf(around)).filter(({ line }) => ` ${line} `.includes(` ${about} `));
  expect(calls.length, about).toBeGreaterThan(0);
  expect(
    await meetsFault(around, { command: 'git', call: calls.length, about, when: 'before', by: 'exit' }),
  ).toBe('reverted');
};
