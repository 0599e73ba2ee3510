/**
 * Rollbacks that their caller gave up on: broken off at every call and at every file written, then met by every kind of
 * call, with and without work done in between. What must hold in each case: nothing that was ever there is lost; a call
 * that was not asked to roll back begins no writing; what was written is put back, path by path; all is told.
 */
import { expect } from 'vitest';
import { eventsOf } from '../../../core/checkpoint/session/session-events.ts';
import { isWalkbackError, WalkbackError } from '../../../core/shared/errors.ts';
import { readBundle } from './fake-bundle.ts';
import { createCounter, Death } from './faults.ts';
import { journalOf } from './rollbacks.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from './stage.ts';

type Instance = ReturnType<Stage['instance']>;
type Files = Record<string, Record<string, string>>;

/** Where the rollback breaks off: at a call of a port, or when it writes a file; the process dies or the service fails. */
export interface Break {
  where: 'before call' | 'after call' | 'at file';
  at: number;
  kind: 'death' | 'error';
}

const NEXT = [
  'checkpoint',
  'another rollback',
  'the same rollback',
  'a plan',
  'a resume',
  'a review',
  'end-session',
] as const;
type Next = (typeof NEXT)[number];

export interface AbandonedCase {
  broken: Break;
  next: Next;
  worked: boolean;
}

const describeAbandoned = ({ broken, next, worked }: AbandonedCase): string =>
  `${broken.kind} ${broken.where} ${broken.at}, ${worked ? 'work' : 'no work'}, then ${next}`;

const rollBack = (instance: Instance) => instance.rollback({ messageId: 'm1', requestId: 'r1' });

/** Runs the rollback (or other work) until it breaks off; false when it ends before that. */
export const breakOff = async (
  stage: Stage,
  { where, at, kind }: Break,
  work: (instance: Instance) => Promise<unknown> = rollBack,
): Promise<boolean> => {
  if (where !== 'at file') {
    const counter = createCounter({ at, kind, when: where === 'before call' ? 'before' : 'after' });
    await work(stage.instance(counter)).catch(() => undefined);
    return counter.fired;
  }
  let left = at;
  let fired = false;
  stage.world.duringWrite = () => {
    left -= 1;
    if (left !== 0) return;
    fired = true;
    throw kind === 'death'
      ? new Death('killed')
      : new WalkbackError('SandboxUnavailable', 'cut', { retryable: true });
  };
  await work(stage.instance()).catch(() => undefined);
  stage.world.duringWrite = () => undefined;
  return fired;
};

/** Every way a rollback of the working stage can break off. */
export const everyBreak = async (): Promise<Break[]> => {
  const all: Break[] = [];
  for (const where of ['before call', 'after call', 'at file'] as const) {
    for (const kind of ['death', 'error'] as const) {
      for (let at = 1; await breakOff(await createWorkingStage(), { where, at, kind }); at++) {
        all.push({ where, at, kind });
      }
    }
  }
  return all;
};

export const abandonedCases = (breaks: readonly Break[]): AbandonedCase[] =>
  breaks.flatMap((broken) =>
    NEXT.flatMap((next) => [false, true].map((worked): AbandonedCase => ({ broken, next, worked }))),
  );

/** On a path the rollback was to change, on one it was not, and a new one. */
const WORK: Files = {
  api: { 'a.txt': 'worked on since', 'fresh.txt': 'made since' },
  notes: { 'n.txt': 'worked on since too' },
};

/** Contents by `repository/path`, wherever they are: in any sandbox, or in a checkpoint whose bundle is stored. */
export const everythingHeld = (stage: Stage): Set<string> => {
  const held = new Set<string>();
  const add = (path: string, files: Record<string, string>): void => {
    for (const [name, text] of Object.entries(files)) held.add(`${path}/${name}\n${text}`);
  };
  for (const sandbox of stage.world.running.values()) {
    for (const [path, { files }] of sandbox.repositories) add(path, files);
  }
  for (const checkpoint of stage.checkpoints()) {
    for (const { path, commit, chainId } of checkpoint.repositories) {
      const link = [...stage.store.tables.links.values()].find(
        (one) => one.commit === commit && one.chainId === chainId,
      );
      const object = link && stage.bucket.objects.get(link.bundle.key);
      if (link === undefined || object === undefined) continue;
      const { at = 0, sizeBytes } = link.bundle;
      const bytes = object.subarray(at, at + sizeBytes);
      add(
        path,
        (readBundle(bytes).content as { repository: { files: Record<string, string> } }).repository.files,
      );
    }
  }
  return held;
};

const flat = (files: Files): Map<string, string> =>
  new Map(
    Object.entries(files).flatMap(([path, inside]) =>
      Object.entries(inside).map(([name, text]): [string, string] => [`${path}/${name}`, text]),
    ),
  );

const call = (stage: Stage, next: Next): Promise<unknown> => {
  const instance = stage.instance();
  switch (next) {
    case 'checkpoint':
      return instance.checkpoint('m3', 't3');
    case 'another rollback':
      return instance.rollback({ messageId: 'm2', requestId: 'r2' });
    case 'the same rollback':
      return rollBack(instance);
    case 'a plan':
      return instance.rollback({ messageId: 'm2', requestId: 'r2', dryRun: true });
    case 'a resume':
      return instance.rehydrate({ mode: 'resume', requestId: 'h1' });
    case 'a review':
      return instance.rehydrate({ mode: 'review', requestId: 'h1' });
    case 'end-session':
      return instance.endSession();
  }
};

/** Every path is as it was when it was met, or, where undo and target differ and it was not worked on, at the undo. */
const expectUndo = (name: string, ends: { undo: Files; target: Files; met: Files; now: Files }): void => {
  const [undo, target, met, now] = [ends.undo, ends.target, ends.met, ends.now].map(flat);
  for (const path of new Set([...(undo?.keys() ?? []), ...(target?.keys() ?? []), ...(met?.keys() ?? [])])) {
    const [from, to, found, is] = [undo?.get(path), target?.get(path), met?.get(path), now?.get(path)];
    const isMix = from !== to && (found === from || found === to);
    expect(is, `${name}: ${path}`).toBe(isMix ? from : found);
  }
};

/** Runs one case and checks all of it. False when the rollback did not break off there. */
export const runAbandoned = async (
  one: AbandonedCase,
  later?: (stage: Stage) => Promise<void>,
): Promise<boolean> => {
  const name = describeAbandoned(one);
  const stage = await createWorkingStage();
  const undo = stage.world.filesOf(SANDBOX);
  const target: Files = { ...undo, api: { 'a.txt': 'two' }, web: { 'w.txt': 'one' } };
  delete target['late'];
  if (!(await breakOff(stage, one.broken))) return false;
  const left = stage.world.filesOf(SANDBOX);
  const isWritten = JSON.stringify(left) !== JSON.stringify(undo);
  stage.passMs(8 * 3_600_000);
  if (one.worked) for (const [path, files] of Object.entries(WORK)) stage.edit(path, files);
  const met = stage.world.filesOf(SANDBOX);
  const before = everythingHeld(stage);
  const begun = structuredClone(journalOf(stage, 'r1'));
  const wasOpen = begun !== undefined && begun.phase !== 'done' && begun.phase !== 'failed';

  await later?.(stage);
  const answer = await call(stage, one.next).catch((error: unknown) => {
    // The same request of a rollback that ended as failed answers that.
    if (one.next === 'the same rollback' && isWalkbackError(error)) return error;
    throw error;
  });

  const held = everythingHeld(stage);
  for (const content of before) expect(held.has(content), `${name}: ${content} is lost`).toBe(true);
  const now = stage.world.running.has(SANDBOX) ? stage.world.filesOf(SANDBOX) : met;
  if (one.next === 'the same rollback') {
    const isDone = begun !== undefined && !wasOpen;
    expect(now, name).toEqual(isDone ? met : target);
    return true;
  }
  if (one.next === 'a plan' || one.next === 'a review') {
    expect(now, name).toEqual(met);
    expect(journalOf(stage, 'r1'), name).toEqual(begun);
    return true;
  }
  if (one.next === 'end-session') expect(now, name).toEqual(met);
  else if (one.next !== 'another rollback') {
    if (wasOpen && !isWritten) expect(now, `${name}: nothing was written, so nothing is`).toEqual(met);
    if (wasOpen) expectUndo(name, { undo, target, met, now });
    else expect(now, name).toEqual(met);
  }
  if (!wasOpen) return true;

  const ended = journalOf(stage, 'r1');
  expect(ended?.phase, name).toMatch(/^(done|failed)$/);
  const settled = stage.session().settledRollback;
  expect(settled, name).toMatchObject({ requestId: 'r1' });
  expect(ended?.settled, name).toEqual(settled);
  if (!isWritten && one.next !== 'end-session') expect(settled?.outcome, name).toBe('closed');
  if (one.next !== 'end-session') expect(answer, name).toMatchObject({ settledRollback: settled });
  const [event] = eventsOf({
    id: 'e',
    ...(begun && { before: { kind: 'rollback', item: begun } }),
    ...(ended && { after: { kind: 'rollback', item: ended } }),
  });
  expect(event, name).toMatchObject({
    name: ended?.phase === 'done' ? 'rollback.completed' : 'rollback.failed',
    detail: { requestId: 'r1', settled },
  });
  const timeline = await stage.instance().timeline({ sessionId: SESSION });
  expect(timeline.session.settledRollback, name).toEqual(settled);
  if (one.next !== 'end-session') {
    expect(stage.session().busy, name).toBeUndefined();
    await stage.instance().checkpoint('m9', 't9');
  }
  return true;
};

/** Kills the checkpoint that settles, at each of its calls and at each file it writes; the same call comes again. */
export const settleCases = async (): Promise<{ run: () => Promise<boolean> }[]> => {
  const deaths = (await everyBreak()).filter(({ where, kind }) => where === 'at file' && kind === 'death');
  const cases: { run: () => Promise<boolean> }[] = [];
  for (const broken of deaths) {
    for (const worked of [false, true]) {
      for (let at = 1; at <= 4; at++) {
        cases.push({
          run: () =>
            dyingAgain({ broken, next: 'checkpoint', worked }, { at, where: 'at file', kind: 'death' }),
        });
      }
      for (let at = 1; at <= MOST_CALLS; at++) {
        for (const where of ['before call', 'after call'] as const) {
          cases.push({
            run: () => dyingAgain({ broken, next: 'checkpoint', worked }, { at, where, kind: 'death' }),
          });
        }
      }
    }
  }
  return cases;
};

/** A checkpoint that settles makes fewer calls than this. */
const MOST_CALLS = 25;

/** False when the second death was not met. */
const dyingAgain = async (one: AbandonedCase, second: Break): Promise<boolean> => {
  let fired = false;
  await runAbandoned(one, async (stage) => {
    fired = await breakOff(stage, second, (instance) => instance.checkpoint('m3', 't3'));
    stage.passMs(1_000_000);
  });
  return fired;
};
