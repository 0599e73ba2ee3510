/**
 * Restores with a fault of the disk, or killed, at one of its own calls of the system: each is at the
 * target, or put back, or told, and what is called next arrives with nothing lost.
 */
import { existsSync, readdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { expectToldError } from './capture-faults.ts';
import {
  chosenDiskFaults,
  createVerdict,
  type DiskFault,
  doneIn,
  type Extent,
  type TroubleName,
} from './disk-faults.ts';
import { createHarness, type Harness, type Snapshot } from './git-harness.ts';
import { world } from './git-repositories.ts';
import { type Kind, type TracedProgram, tracedProgram } from './traced-program.ts';

/** Everything that a restore moves, and an ignored file that is in no capture. */
const FIRST = `mkdir app; cd app; git init -q -b main .; mkdir -p d/e hollow; for n in a b c d/1 d/e/2; do echo $n > $n; done; ln -s a link
echo 'unseen' > .gitignore; git add -A; git commit -qm one
chmod 600 b; echo x > x; chmod 755 x; git branch side; echo staged > a; git add a; echo later > a; echo mine > unseen`;
const SECOND = `cd app; rm -r d hollow link; mkdir link f; echo l > link/l; echo d > d; echo 2 > f/2; rm c; chmod 644 b; git add -A; git commit -qm two; git checkout -qb topic; git branch -D side; mkdir void
echo more > x; git init -q -b main ../gone; cd ../gone; echo g > g; git add g; git commit -qm g; echo h > h`;
/** One that comes on the way to the first state. */
const COMES = `git init -q -b main comes; cd comes; mkdir in; echo c > in/c; git add -A; git commit -qm c; echo later > in/c`;
const NAMES = ['app', 'comes', 'gone'];

interface State {
  snapshot: Snapshot;
  looks: string[];
}

interface Ground {
  harness: Harness;
  traced: TracedProgram;
  first: State;
  second: State;
}

/** Of a repository that only began to come, its directory may be left, with nothing of the user's in it (`endedWithin`). */
const isLeftOver = (directory: string): boolean =>
  existsSync(directory) && readdirSync(directory).every((name) => name === '.agent-shadow');

const look = (harness: Harness): string[] => {
  const at = (name: string): string => `${harness.root}/${name}`;
  const left = NAMES.filter((name) => isLeftOver(at(name)));
  return world(
    harness,
    NAMES.filter((name) => existsSync(`${at(name)}/.git`)),
  ).filter((line) => !left.some((name) => line.startsWith('d ') && line.endsWith(` ${name}`)));
};

const isApplied = ({ outcome, problems }: RestoreReport): void =>
  expect([outcome, problems], JSON.stringify(problems)).toEqual(['applied', []]);

const goTo = async ({ harness }: Ground, { snapshot, looks }: State): Promise<RestoreReport> => {
  const { report } = await harness.rollback(snapshot);
  isApplied(report);
  expect(look(harness)).toEqual(looks);
  return report;
};

/** What is disturbed: from the second state, with a capture of it. */
interface Work {
  /** Before the capture. */
  prepare: (ground: Ground) => Promise<void>;
  start: 'first' | 'second';
  hasComing?: boolean;
  act: (ground: Ground, from: Snapshot) => Promise<RestoreReport>;
  /** Where it may stand when it says that it is done. */
  ends: (ground: Ground) => State[];
}

const goal = (ground: Ground, { start }: Work): State => (start === 'second' ? ground.first : ground.second);

const restore =
  (to: 'first' | 'second') =>
  async (ground: Ground, from: Snapshot): Promise<RestoreReport> =>
    (await ground.harness.rollback(ground[to].snapshot, { from })).report;

/** Breaks a restore off where some files have moved and others have not. */
const breakOff = async (ground: Ground): Promise<void> => {
  const { harness, traced, first } = ground;
  const from = await harness.capture(first.snapshot);
  const planned = { kinds: ['renames'], at: 14, does: { kind: 'kill', when: 'before' } } as const;
  const { told } = await traced.during(harness.root, planned, () =>
    harness.rollback(first.snapshot, { from }).catch(() => undefined),
  );
  expect(doneIn(told)).toContain('Kill');
};

export const WORKS = {
  'a restore': {
    prepare: async () => undefined,
    start: 'second',
    act: restore('first'),
    ends: ({ first }) => [first],
  },
  'a restore of one that is made from its bundles': {
    prepare: async ({ harness }) => void harness.sh('rm -rf .agent-shadow/parked-s1*'),
    start: 'second',
    hasComing: true,
    act: restore('first'),
    ends: ({ first }) => [first],
  },
  'the way back': {
    prepare: async () => undefined,
    start: 'first',
    act: restore('second'),
    ends: ({ second }) => [second],
  },
  settling: {
    prepare: breakOff,
    start: 'second',
    act: async ({ harness, first, second }, from) =>
      (await harness.settle(second.snapshot, first.snapshot, from)).report,
    ends: ({ second }) => [second],
  },
} satisfies Record<string, Work>;
export type WorkName = keyof typeof WORKS;

const isAt = (ground: Ground, states: readonly State[]): void => {
  const looks = look(ground.harness);
  const astray = states
    .map((state) => looks.filter((line) => !state.looks.includes(line)))
    .toSorted((one, other) => one.length - other.length)[0];
  expect(
    states.map((state) => state.looks),
    `only here: ${JSON.stringify(astray)}`,
  ).toContainEqual(looks);
};

/** What is called after the fault, whatever it was. */
const NEXT: Record<string, (ground: Ground, work: Work) => Promise<unknown>> = {
  'the same again': (ground, work) => goTo(ground, goal(ground, work)),
  settled: async (ground, work) => {
    const other = goal(ground, work);
    const { report } = await ground.harness.settle(ground[work.start].snapshot, other.snapshot);
    isApplied(report);
    expect(report.settled?.kept).toEqual([]);
    isAt(ground, [ground[work.start]]);
  },
  'the way back': (ground, work) => goTo(ground, ground[work.start]),
  /** What is there now can be left and returned to. */
  'a capture': async (ground) => {
    const { harness, second } = ground;
    const looks = look(harness);
    const snapshot = await harness.capture();
    expect(snapshot.report.failures).toEqual([]);
    await goTo(ground, second);
    await goTo(ground, { snapshot, looks });
  },
};

/** Whether what was said is what is there. */
const judge = (ground: Ground, work: Work, before: string[], report: RestoreReport): void => {
  const { outcome, problems } = report;
  if (outcome === 'applied') {
    isAt(ground, work.ends(ground));
    return;
  }
  expect(problems.map(({ message }) => message).join('')).toMatch(/\w{3}/);
  if (outcome === 'refused' || outcome === 'reverted') expect(look(ground.harness)).toEqual(before);
};

const playOne = async (
  ground: Ground,
  work: Work,
  { name, planned }: DiskFault,
  turn: number,
): Promise<string[]> => {
  const { harness, traced } = ground;
  const verdict = createVerdict();
  await work.prepare(ground);
  const other = goal(ground, work);
  const from = await harness.capture(other.snapshot);
  const before = look(harness);
  const { answer, told } = await traced.during(harness.root, planned, () =>
    work.act(ground, from).then(
      (report) => ({ report, error: undefined }),
      (error: unknown) => ({ report: undefined, error }),
    ),
  );
  const done = doneIn(told);
  const ended = `${name} (${done}), ${answer.report?.outcome ?? String(answer.error)}`;
  await verdict.check(`${ended}, ${JSON.stringify(answer.report?.problems)}`, () => {
    if (answer.error !== undefined) expectToldError(answer.error, name);
    if (answer.report !== undefined) judge(ground, work, before, answer.report);
  });
  const nexts = Object.entries(NEXT);
  const [next, act] = nexts[turn % nexts.length] ?? [];
  await verdict.check(`${next} after ${ended}`, async () => void (await act?.(ground, work)));
  await verdict.check(`returning from ${next} after ${ended}`, async () => {
    const report = await goTo(ground, ground[work.start]);
    expect(report.asides ?? []).toEqual([]);
    for (const left of ['journal-s1', 'aside-s1'])
      expect(existsSync(`${harness.root}/.agent-shadow/${left}`), left).toBe(false);
  });
  return [done, ...verdict.bad];
};

const makeGround = async (traced: TracedProgram, harness: Harness, work: Work): Promise<Ground> => {
  const state = async (script: string): Promise<State> => {
    harness.sh(script);
    return { looks: look(harness), snapshot: await harness.capture() };
  };
  const [comes, goes] = work.hasComing === true ? [`(${COMES})`, 'rm -rf comes'] : [':', ':'];
  const first = await state(`${comes}; ${FIRST}`);
  const second = await state(`${goes}; ${SECOND}`);
  return { harness, traced, first, second };
};

/** Answers how many faults were met, and what was wrong. After a wrong case, everything is made anew. */
export const restoreDiskFaults = async (
  name: WorkName,
  trouble: TroubleName,
  extent: Extent,
): Promise<{ met: number; bad: string[] }> => {
  const work: Work = WORKS[name];
  using traced = tracedProgram();
  let met = 0;
  const bad: string[] = [];
  let faults: DiskFault[] | undefined;
  for (;;) {
    await using harness = await createHarness({ prefix: traced.prefix });
    const ground = await makeGround(traced, harness, work);
    if (work.start === 'first') await goTo(ground, ground.first);
    if (faults === undefined) {
      await work.prepare(ground);
      const from = await harness.capture(goal(ground, work).snapshot);
      const { told } = await traced.during(harness.root, undefined, () => work.act(ground, from));
      await goTo(ground, ground[work.start]);
      faults = chosenDiskFaults(trouble, told, extent);
    }
    let fault = faults.shift();
    let wrong: string[] = [];
    while (fault !== undefined && wrong.length === 0) {
      const [done, ...found] = await playOne(ground, work, fault, fault.planned.at + extent.seed);
      if (done !== '') met += 1;
      wrong = found;
      bad.push(...wrong);
      fault = wrong.length === 0 ? faults.shift() : undefined;
    }
    if (faults.length === 0 && fault === undefined) return { met, bad };
  }
};

/** The next call, and what of it is answered. */
const AFTER_THE_END = {
  'the same again': async (ground: Ground) => {
    await goTo(ground, ground.first);
    return readdirSync(ground.harness.root);
  },
  'the way back': async (ground: Ground) => {
    await goTo(ground, ground.second);
    return readdirSync(ground.harness.root);
  },
  settled: async ({ harness, first, second }: Ground) => {
    const { report } = await harness.settle(second.snapshot, first.snapshot);
    isApplied(report);
    return report.settled?.kept ?? [];
  },
};

/** The program is killed before the so-manieth call about a path. */
export const endedWithin = async (
  name: WorkName,
  where: { about: string; kinds: readonly Kind[]; at: number },
  next: keyof typeof AFTER_THE_END,
): Promise<string[]> => {
  const work: Work = WORKS[name];
  using traced = tracedProgram();
  await using harness = await createHarness({ prefix: traced.prefix });
  const ground = await makeGround(traced, harness, work);
  await work.prepare(ground);
  const from = await harness.capture(ground.first.snapshot);
  const planned = { ...where, does: { kind: 'kill', when: 'before' } } as const;
  const { told } = await traced.during(harness.root, planned, () =>
    work.act(ground, from).catch(() => undefined),
  );
  expect(doneIn(told)).toContain('Kill');
  return (await AFTER_THE_END[next](ground)).toSorted();
};
