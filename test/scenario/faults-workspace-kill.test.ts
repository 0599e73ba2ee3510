/**
 * The whole cloud is killed in the middle of forks, merges, reverts, partial rollbacks, looks at a sandbox and verifications, then
 * started again on its data. The same call again finishes each, once; nothing is half there, and no sandbox is left for long.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import { type KilledCloud, startKilledCloud, timed } from '../support/killed-cloud.ts';
import { type Fork, mergeStage } from '../support/merge-stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { instants, printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { edit, fingerprint, rootOf, sandboxIds, sdkOf, shell, type World } from '../support/world.ts';

const test = inTurn('faults-workspace-kill');

/** Kills per operation, each with a cloud that starts again. */
const KILLS = Number(process.env['KILLS'] ?? (WHOLE ? 3 : 1));
const PATIENCE = { timeout: 1_800_000 };
const SEED = printedSeed('kills of workspaces');
/** One of them, another one each time; all of them in a whole run. */
const OPERATIONS = sampled(['fork', 'merge', 'revert', 'paths', 'preflight', 'verify'], {
  every: 6,
  offset: SEED,
});
const runIf = (name: string) => (OPERATIONS.includes(name) ? test : test.skip);

let running: KilledCloud;
let world: World;
let fork: Fork;

beforeAll(async () => {
  running = await startKilledCloud();
  const stage = mergeStage({
    ...running.cloud,
    invoke: (name, event) => running.cloud.invoke(name, event),
  });
  world = await stage.open();
  fork = await stage.forkOf(world);
  running.onUp((cloud) => {
    world.cloud = cloud;
  });
});
afterAll(() => running[Symbol.asyncDispose]());

const invoke = (name: string, event: unknown) => running.cloud.invoke(name, event);

/** Kills at instants spread over what `work` takes when nobody disturbs it. Answers how often it was killed. */
const killedAt = async (
  clean: () => Promise<unknown>,
  once: (index: number, kill: (work: () => Promise<unknown>) => Promise<void>, name: string) => Promise<void>,
): Promise<void> => {
  const { ms } = await timed(clean);
  process.stdout.write(`${expect.getState().currentTestName}: ${Math.round(ms)} ms undisturbed\n`);
  const all = instants(ms, KILLS, SEED);
  for (const [index, afterMs] of all.entries()) {
    await once(index, (work) => running.killDuring(work, afterMs), `killed after ${Math.round(afterMs)} ms`);
  }
  expect(all).toHaveLength(KILLS);
};

/** The same call finishes what moves the files of the session, once, and it can be undone. */
const finishesOnce = async (
  name: string,
  call: (requestId: string) => Promise<Record<string, unknown>>,
  kill: (work: () => Promise<unknown>) => Promise<void>,
  about: string,
): Promise<Record<string, unknown>> => {
  const before = world.fingerprint();
  const others = await sandboxIds(running.cloud);
  const { epoch } = (await world.timeline()).session;
  await kill(() => call(name));
  const answer = await call(name);
  expect(answer, about).toMatchObject({ status: 'APPLIED', epoch: epoch + 1 });
  const after = world.fingerprint();
  // Asked once more, it is what it was.
  expect(await call(name), about).toEqual(answer);
  expect(world.fingerprint(), about).toEqual(after);
  expect((await world.timeline()).session, about).toMatchObject({ epoch: epoch + 1, busy: null });
  expect(await sandboxIds(running.cloud), about).toEqual(others);
  await world.rollback(`undo-${name}`, String(answer['undoCheckpointId']));
  expect(world.fingerprint(), `undone: ${about}`).toEqual(before);
  await world.rollback(`redo-${name}`, String(answer['checkpointId']));
  expect(world.fingerprint(), `made again: ${about}`).toEqual(after);
  return answer;
};

let edits = 0;

runIf('fork')('a fork: one session in one sandbox, and no other', PATIENCE, async () => {
  const { looks } = await world.checkpoint('forked');
  const take = (requestId: string) => invoke('fork-session', { sessionId: world.sessionId, requestId });
  const clean = () => take('clean');
  await killedAt(clean, async (index, kill, name) => {
    const others = await sandboxIds(running.cloud);
    await kill(() => take(`kill-${index}`));
    const answer = await take(`kill-${index}`);
    const sandboxId = String(answer['sandboxId']);
    expect(fingerprint(rootOf(running.cloud, sandboxId), world.paths), name).toEqual(looks);
    expect(await sandboxIds(running.cloud), name).toEqual([...others, sandboxId].toSorted());
    expect(await take(`kill-${index}`), name).toEqual(answer);
    await invoke('end-session', { sessionId: answer['sessionId'], discard: true });
    expect(await sandboxIds(running.cloud), name).toEqual(others);
  });
});

runIf('merge')('a merge: all of the fork comes, once, beside the work of the source', PATIENCE, async () => {
  const work = async (): Promise<void> => {
    edits += 1;
    edit(fork.root, edits, world.paths);
    await invoke('checkpoint', {
      sessionId: fork.sessionId,
      messageId: `m${edits}`,
      toolExecutionId: `m${edits}`,
      reason: 'before-tool',
    });
    shell(world.root, `for r in api web; do echo ${edits} > $r/mine-${edits}; done`);
  };
  const merge = (requestId: string) =>
    invoke('merge', { from: fork.sessionId, into: world.sessionId, requestId });
  await work();
  const clean = () => merge('merge-clean');
  await killedAt(clean, async (index, kill, name) => {
    await work();
    await finishesOnce(`merge-${index}`, merge, kill, name);
    const withoutMine = world.fingerprint().filter((one) => !/\/mine-/.test(one));
    expect(withoutMine, name).toEqual(fork.looks());
    expect(shell(world.root, 'cat api/mine-* web/mine-* | wc -l').trim(), name).toBe(String(2 * edits));
  });
});

runIf('revert')('a revert: one message is taken back, later work stays', PATIENCE, async () => {
  const revert = (messageId: string) => (requestId: string) =>
    invoke('revert', { sessionId: world.sessionId, messageId, requestId });
  const work = async (name: string): Promise<void> => {
    await world.checkpoint(`before-${name}`);
    shell(world.root, `for r in api web; do echo ${name} > $r/taken-${name}; rm -f $r/a.txt; done`);
    await world.checkpoint(name);
    shell(world.root, `for r in api web; do echo ${name} > $r/later-${name}; done`);
    // What no checkpoint holds would belong to the message that is taken back.
    await world.checkpoint(`after-${name}`);
  };
  await work('clean');
  const clean = () => revert('clean')('revert-clean');
  await killedAt(clean, async (index, kill, about) => {
    shell(world.root, 'for r in api web; do echo again > $r/a.txt; done');
    await work(`w${index}`);
    await finishesOnce(`revert-${index}`, revert(`w${index}`), kill, about);
    const there = shell(world.root, 'cat api/a.txt web/a.txt; ls api web');
    expect(there, about).toMatch(/^again\nagain\n/);
    expect(there, about).not.toContain(`taken-w${index}`);
    expect(there.split(`later-w${index}`), about).toHaveLength(3);
  });
});

runIf('paths')('a rollback of some paths: these go back, and nothing else', PATIENCE, async () => {
  shell(world.root, 'for r in api web; do mkdir -p $r/dir; echo then > $r/dir/f; echo then > $r/g; done');
  const { checkpointId } = await world.checkpoint('then');
  const back = (requestId: string) =>
    invoke('rollback', {
      sessionId: world.sessionId,
      checkpointId,
      requestId,
      paths: ['api/dir', 'web/dir/f'],
    });
  const work = (n: number) =>
    shell(world.root, `for r in api web; do echo ${n} > $r/dir/f; echo ${n} > $r/g; done`);
  work(-1);
  const clean = () => back('paths-clean');
  await killedAt(clean, async (index, kill, name) => {
    work(index);
    await finishesOnce(`paths-${index}`, back, kill, name);
    expect(shell(world.root, 'cat api/dir/f web/dir/f api/g web/g'), name).toBe(
      `then\nthen\n${index}\n${index}\n`,
    );
  });
});

/** Sandboxes that a killed call left: each tagged as its own, and with an end. The sandboxes of sessions are all there. */
const expectOnlyShortLived = async (
  others: readonly string[],
  isOurs: (tags: Readonly<Record<string, string>>) => boolean,
  lifeMs: number,
  name: string,
): Promise<void> => {
  const found = await sdkOf(running.cloud).list().nextItems();
  const ids = found.map(({ sandboxId }) => sandboxId);
  expect(
    others.filter((id) => !ids.includes(id)),
    name,
  ).toEqual([]);
  for (const { sandboxId, metadata, startedAt, endAt } of found) {
    if (others.includes(sandboxId)) continue;
    expect(isOurs(metadata), name).toBe(true);
    expect(endAt.getTime() - startedAt.getTime(), name).toBeLessThanOrEqual(lifeMs);
  }
};

runIf('preflight')(
  'a look at a template: what a killed one left ends by itself, the next one leaves nothing',
  PATIENCE,
  async () => {
    const others = await sandboxIds(running.cloud);
    const look = () => invoke('preflight', { template: 'base', projectsRoot: '/home/user/work' });
    await killedAt(look, async (_, kill, name) => {
      await kill(look);
      const isOurs = (tags: Readonly<Record<string, string>>) => tags['walkback-purpose'] === 'preflight';
      await expectOnlyShortLived(others, isOurs, 361_000, name);
      const left = await sandboxIds(running.cloud);
      expect((await look())['checks'], name).toBeDefined();
      expect(await sandboxIds(running.cloud), name).toEqual(left);
    });
  },
);

runIf('verify')(
  'a verification: what a killed one left ends by itself, the next one leaves nothing',
  PATIENCE,
  async () => {
    await world.checkpoint('verified');
    const others = await sandboxIds(running.cloud);
    const before = world.fingerprint();
    const commitments = [{ id: 'there', description: 'is there', command: 'sleep 0.3; test -d api/.git' }];
    const verify = () => invoke('verify-commitments', { sessionId: world.sessionId, commitments });
    await killedAt(verify, async (_, kill, name) => {
      await kill(verify);
      const isOurs = (tags: Readonly<Record<string, string>>) =>
        tags['walkback-request']?.startsWith('verify-') === true;
      await expectOnlyShortLived(others, isOurs, 931_000, name);
      const left = await sandboxIds(running.cloud);
      expect(await verify(), name).toMatchObject({ ok: true });
      expect(await sandboxIds(running.cloud), name).toEqual(left);
    });
    expect(world.fingerprint()).toEqual(before);
    expect((await world.timeline()).session.busy).toBe(null);
  },
);
