import { afterAll, test as always, beforeAll, expect } from 'vitest';
import { hostSession } from '../../client/host-session.ts';
import {
  type CheckpointWarning,
  errors,
  isWalkbackError,
  type Session,
  WalkbackError,
} from '../../client/index.ts';
import { type ClientWorld, openClientWorld } from '../support/client-world.ts';
import { errorOf } from '../support/error-of.ts';
import type { FaultAction } from '../support/fault-actions.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('client-session', 7);

let world: ClientWorld;
beforeAll(async () => {
  world = await openClientWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const begin = () => world.walkback.sessions.start({ root: world.root });
const EDIT = { name: 'Edit', input: { file_path: 'api/file.txt' } };
const INVOCATION = { method: 'POST', path: '/functions/walkback-checkpoint/' };

always('what was planned, and an undo, are refused where somebody else moved the session since', async () => {
  const session = await begin();
  world.write('api/file.txt', 'one\n');
  const { checkpointId } = await session.checkpoint({ messageId: 'msg-1' });
  world.write('api/file.txt', 'two\n');
  const plan = await session.plan({ to: checkpointId });
  expect(plan.epoch).toBe(1);
  const others = await world.walkback.sessions.get(session.sessionId);
  const other = await others.plan({ to: checkpointId });
  const done = await plan.apply();
  expect(done.epoch).toBe(2);
  await expect(other.apply()).rejects.toBeInstanceOf(errors.StaleEpoch);
  expect(await plan.apply()).toEqual(done);
  const revert = { messageId: 'msg-1', epoch: 1 };
  await expect(others.revert(revert)).rejects.toBeInstanceOf(errors.StaleEpoch);
  await expect(others.rollback({ to: checkpointId, epoch: 1 })).rejects.toBeInstanceOf(errors.StaleEpoch);
  const resume = { mode: 'resume', epoch: 1 } as const;
  await expect(others.rehydrate(resume)).rejects.toBeInstanceOf(errors.StaleEpoch);
  await expect(others.rewind({ to: checkpointId, by: 'ada', epoch: 1 })).rejects.toBeInstanceOf(
    errors.StaleEpoch,
  );
  // Its answer was lost: asked again in the same epoch, it goes no further back.
  const { epoch } = session;
  await session.undo({ epoch });
  await expect(session.undo({ epoch })).rejects.toBeInstanceOf(errors.StaleEpoch);
  expect(world.read('api/file.txt')).toBe('two\n');
  await session.redo({ epoch: session.epoch, signal: AbortSignal.timeout(60_000) });
  expect(world.read('api/file.txt')).toBe('one\n');
  await session.end();
});

always('an agent turn is taken back: plan, apply, undo', async () => {
  const session = await begin();
  world.write('api/file.txt', 'of the person\n');
  const run = session.run({ message: { id: 'msg-1' } });
  const said = await run.guard({ id: 'call-1', ...EDIT }, () => {
    world.write('api/file.txt', 'of the agent\n');
    world.write('web/new.txt', 'of the agent\n');
    return 'done';
  });
  expect(said).toBe('done');
  await run.finish();

  const { checkpoints } = await session.timeline();
  const before = checkpoints.find(({ toolExecutionId }) => toolExecutionId === 'call-1');
  expect(before?.reason).toBe('before-tool: Edit');
  await expect(session.plan({ to: 'cp-00000002' })).rejects.toMatchObject(
    errorOf('MessageNotFound', /"cp-00000002" was taken for a message id.*Newest checkpoints: cp-/),
  );
  const plan = await session.plan({ to: before?.checkpointId ?? '' });
  expect(plan.repositories.map(({ path }) => path).toSorted()).toEqual(['api', 'web']);
  expect(world.read('api/file.txt')).toBe('of the agent\n');
  expect((await plan.apply()).status).toBe('APPLIED');
  expect(world.read('api/file.txt')).toBe('of the person\n');
  expect(() => world.read('web/new.txt')).toThrow('ENOENT');
  expect((await plan.apply()).epoch).toBe(session.epoch);

  await session.undo();
  expect(world.read('web/new.txt')).toBe('of the agent\n');
  await session.redo();
  expect(() => world.read('web/new.txt')).toThrow('ENOENT');
  await expect(session.redo()).rejects.toBeInstanceOf(errors.CheckpointNotFound);
  await session.undo();
  await expect(session.undo()).rejects.toBeInstanceOf(errors.CheckpointNotFound);
  expect(world.read('web/new.txt')).toBe('of the agent\n');
  await session.end();
});

test('a plan goes to the checkpoint that it showed, also when its message gets another one', async () => {
  const session = await begin();
  world.write('api/file.txt', 'shown');
  await session.checkpoint({ messageId: 'msg-1' });
  world.write('api/file.txt', 'of msg-2');
  await session.checkpoint({ messageId: 'msg-2' });
  const plan = await session.plan({ to: 'msg-1' });
  world.write('api/file.txt', 'not shown');
  await session.checkpoint({ messageId: 'msg-1' });
  expect((await plan.apply()).checkpointId).toBe(plan.answer.checkpointId);
  expect(world.read('api/file.txt')).toBe('shown');
  await session.end();
});

test('undo of several rollbacks goes on, redo comes back, and new work ends it', async () => {
  const session = await begin();
  const points: string[] = [];
  for (const text of ['one', 'two', 'three']) {
    world.write('api/file.txt', text);
    points.push((await session.checkpoint({ messageId: `m-${text}` })).checkpointId);
  }
  const [one = '', two = ''] = points;
  await session.rollback({ to: two });
  // Another client of the same session counts as well.
  await (await world.walkback.sessions.get(session.sessionId)).rollback({ to: one });
  await session.refresh();
  expect(world.read('api/file.txt')).toBe('one');
  const seen: string[] = [];
  for (const way of ['undo', 'undo', 'redo', 'redo', 'undo'] as const) {
    await session[way]();
    seen.push(world.read('api/file.txt'));
  }
  expect(seen).toEqual(['two', 'three', 'two', 'one', 'two']);
  world.write('api/file.txt', 'new work');
  await session.checkpoint({ messageId: 'm-new' });
  await expect(session.redo()).rejects.toThrow('Nothing to redo');
  await session.end();
});

test('a message is the end of its work, and the next turn begins there', async () => {
  const session = await begin();
  for (const id of ['m-1', 'm-2']) {
    const run = session.run({ message: { id } });
    await run.guard({ id: `call-of-${id}`, ...EDIT }, () => world.write('api/file.txt', id));
    // The first turn ends without its last checkpoint.
    if (id === 'm-2') await run.finish();
  }
  await session.rollback({ to: 'm-1' });
  expect(world.read('api/file.txt')).toBe('m-1');
  await session.end();
});

test('a message whose id the functions do not take is found again by that id', async () => {
  const session = await begin();
  const [first, second] = ['chat/1: é', `m-${'2'.repeat(80)}`] as const;
  for (const id of [first, second]) {
    const run = session.run({ message: { id } });
    await run.guard({ id: `call-of-${run.messageId}`, ...EDIT }, () => world.write('api/file.txt', id));
    await run.finish();
  }
  expect((await session.plan({ to: first })).discardedMessageIds).toHaveLength(1);
  expect(JSON.stringify(await session.diff({ from: first, to: second }))).toContain('file.txt');
  const { checkpoints } = await session.changes({ messageId: second });
  expect(checkpoints.length).toBeGreaterThan(0);
  expect((await session.revert({ messageId: second, dryRun: true })).status).toBe('PLANNED');
  await session.rollback({ to: { messageId: first } });
  expect(world.read('api/file.txt')).toBe(first);
  await session.end();
});

/** One turn with one tool, by any client of the session. */
const turn = async (session: Session, id: string, how: { isCut?: boolean } = {}): Promise<void> => {
  const run = session.run({ message: { id, text: `text of ${id}` } });
  await run.guard({ id: `call-of-${id}`, ...EDIT }, () => world.write('api/file.txt', id));
  if (how.isCut !== true) await run.finish();
};

test(
  'work belongs to its message, whichever client did it, and also when its turn was cut',
  async () => {
    const session = await begin();
    const again = () => world.walkback.sessions.get(session.sessionId);
    await turn(session, 'm-1');
    await turn(await again(), 'm-2', { isCut: true });
    const other = await again();
    await turn(other, 'm-3', { isCut: true });
    await turn(session, 'm-4');
    await turn(other, 'm-5');
    await turn(session, 'm-6', { isCut: true });
    expect((await other.checkpoint()).messageId).toBe('m-6');
    await turn(other, 'm-7', { isCut: true });
    // Of the last one only the rollback's own capture has the work.
    const plan = await session.plan({ to: 'm-6' });
    expect(plan.discardedMessageIds).toEqual(['m-7']);
    expect((await plan.apply()).discardedMessageIds).toEqual(['m-7']);
    expect((await session.undo()).trimAfterMessageId).toBe('m-7');
    const { messages } = await session.timeline();
    const ids = ['m-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6', 'm-7'];
    expect(messages.map((message) => message.messageId)).toEqual(ids);
    for (const id of ids) {
      await session.rollback({ to: id });
      expect(world.read('api/file.txt')).toBe(id);
      await session.undo();
    }
    // What was gone back from is not there, and neither is its message.
    await session.rollback({ to: 'm-2' });
    await turn(await again(), 'm-8');
    await session.refresh();
    await session.rollback({ to: 'm-2' });
    expect(world.read('api/file.txt')).toBe('m-2');
    await session.end();
  },
  { timeout: 240_000 },
);

always('a revert tells the work of a turn that was cut from that of the message before it', async () => {
  world.write('api/file.txt', 'of before the session');
  const session = await begin();
  await turn(session, 'm-1');
  const cut = session.run({ message: { id: 'm-2' } });
  await cut.guard({ id: 'call-of-m-2', ...EDIT }, () => world.write('api/cut.txt', 'cut'));
  await expect(session.plan({ to: 'm-2' })).rejects.toMatchObject(
    errorOf('MessageNotFound', /"m-2" begins after the last checkpoint.*session\.checkpoint\(\)/),
  );

  await session.revert({ messageId: 'm-1' });
  expect(world.read('api/cut.txt')).toBe('cut');
  expect(world.read('api/file.txt')).not.toBe('m-1');
  await session.undo();
  // Of its own there was no checkpoint before.
  const next = session.run({ message: { id: 'm-3' } });
  await next.guard({ id: 'call-of-m-3', ...EDIT }, () => world.write('api/next.txt', 'next'));
  await session.revert({ messageId: 'm-3' });
  expect(() => world.read('api/next.txt')).toThrow('ENOENT');
  expect([world.read('api/cut.txt'), world.read('api/file.txt')]).toEqual(['cut', 'm-1']);
  await session.end();
});

always(
  'what a person did before the first turn, or during one that only read, is not taken back with it',
  async () => {
    world.write('api/file.txt', 'of before the session');
    const session = await begin();
    world.write('api/person.txt', 'before');
    await turn(session, 'm-1');
    await session.revert({ messageId: 'm-1' });
    expect(world.read('api/file.txt')).toBe('of before the session');
    expect(world.read('api/person.txt')).toBe('before');
    const reading = session.run({ message: { id: 'm-2' } });
    world.write('api/person.txt', 'meanwhile');
    await reading.finish();
    expect((await session.plan({ to: 'm-2' })).repositories.every(({ written }) => written === 0)).toBe(true);
    await session.revert({ messageId: 'm-2' });
    expect(world.read('api/person.txt')).toBe('meanwhile');
    await session.end();
  },
);

test('a rewind knows whose work it takes back of a turn that was cut', async () => {
  const session = await begin();
  await turn(session, 'm-1');
  await turn(session, 'm-2', { isCut: true });
  const before = session.epoch;
  const { files } = await session.rewind({ to: 'm-1', by: 'ada', waitSeconds: 20 });
  expect(session.epoch, 'raised for the effects, and for the files').toBe(before + 2);
  expect(files?.discardedMessageIds).toEqual(['m-2']);
  const { messages } = await session.timeline();
  expect(messages).toMatchObject([{ messageId: 'm-1' }, { messageId: 'm-2', discarded: true }]);
  await session.undo();
  expect(world.read('api/file.txt')).toBe('m-2');
  await session.rollback({ to: 'm-2' });
  await session.end();
});

test('work that ran without a checkpoint before it is of its message, too', async () => {
  const session = await begin();
  await turn(session, 'm-1');
  const { walkback, proxy } = await world.through([], {
    onCheckpointError: 'warn',
    onWarning: () => undefined,
  });
  const warning = await walkback.sessions.get(session.sessionId);
  proxy.setPlan([{ match: INVOCATION, action: { kind: 'status', status: 403 } }]);
  await turn(warning, 'm-2', { isCut: true });
  proxy.setPlan([]);
  await turn(warning, 'm-3');
  await session.refresh();
  await session.rollback({ to: 'm-2' });
  expect(world.read('api/file.txt')).toBe('m-2');
  await session.end();
});

test('a call again after a rollback by somebody else does not run on what came since', async () => {
  const session = await begin();
  const run = session.run({ message: { id: 'm' } });
  const call = { id: 'one', ...EDIT };
  const tool = () => world.write('api/file.txt', 'of the agent');
  await run.guard(call, tool);
  await run.guard(call, tool);
  const { checkpoints } = await session.timeline();
  expect(checkpoints, 'the baseline, and one').toHaveLength(2);
  const person = await world.walkback.sessions.get(session.sessionId);
  await person.rollback({ to: checkpoints[0]?.checkpointId ?? '' });
  world.write('api/file.txt', 'by hand');
  await expect(run.guard(call, tool)).rejects.toBeInstanceOf(errors.StaleEpoch);
  expect(run.signal.aborted).toBe(true);
  expect(world.read('api/file.txt')).toBe('by hand');
  // The turn again knows of the rollback, and the host's id is that of another execution.
  const next = person.run({ message: { id: 'm' } });
  const before = await next.before(call);
  tool();
  await person.rollback({ to: before?.checkpointId ?? '' });
  expect(world.read('api/file.txt')).toBe('by hand');
  await person.end();
});

test('a turn that goes on after its end has another end', async () => {
  const session = await begin();
  const run = session.run({ message: { id: 'm' } });
  await run.guard({ id: 'one', ...EDIT }, () => world.write('api/file.txt', 'one'));
  const first = await run.finish();
  expect(await run.finish()).toEqual(first);
  await run.guard({ id: 'two', ...EDIT }, () => world.write('api/file.txt', 'two'));
  const second = await run.finish();
  expect(second.seq).toBeGreaterThan(first.seq);
  expect(await run.finish()).toEqual(second);
  world.write('api/file.txt', 'three');
  await session.rollback({ to: 'm' });
  expect(world.read('api/file.txt')).toBe('two');
  await session.end();
});

test('a session that is started by two at once is one session', async () => {
  const { walkback, root } = world;
  const start = () => walkback.sessions.start({ root, sessionId: 'at-once' });
  const started = await Promise.all([start(), start(), start()]);
  expect(new Set(started.map(({ sessionId }) => sessionId))).toEqual(new Set(['at-once']));
  const places = await Promise.all(started.map(async (one) => (await one.timeline()).session.sandboxId));
  expect(new Set(places).size).toBe(1);
  const held = await Promise.all(
    ['at-once-by-hosts', 'at-once-by-hosts'].map((id) => hostSession(walkback, root, id)),
  );
  expect(new Set(held.map(({ sessionId }) => sessionId)).size).toBe(1);
  for (const session of [started[0], held[0]]) await session?.end();
});

test('a rollback by somebody else ends the run before its next tool', async () => {
  const session = await begin();
  const other = await world.walkback.sessions.get(session.sessionId);
  const run = session.run({ message: { id: 'm' } });
  const first = await run.before({ id: 'one', ...EDIT });
  await other.rollback({ to: first?.checkpointId ?? '' });
  let ran = false;
  const late = run.guard({ id: 'two', ...EDIT }, () => {
    ran = true;
  });
  await expect(late).rejects.toBeInstanceOf(errors.StaleEpoch);
  expect(ran).toBe(false);
  expect(isWalkbackError(run.signal.reason, 'StaleEpoch')).toBe(true);
  await expect(run.before({ id: 'three', name: 'Read' }), 'reads too').rejects.toThrow(errors.StaleEpoch);
  await session.refresh();
  await session.run({ message: { id: 'm-2' } }).before({ id: 'four', ...EDIT });
  await session.end();
  await expect(session.run().before({ id: 'five', ...EDIT })).rejects.toThrow(errors.SessionEnded);
});

test('parallel calls of one turn share a checkpoint, and a call after they began has its own', async () => {
  const session = await begin();
  const run = session.run({ message: { id: 'm' } });
  const answers = await Promise.all(['a', 'b', 'c', 'a'].map((id) => run.before({ id, ...EDIT })));
  expect(new Set(answers.map((answer) => answer?.checkpointId)).size).toBe(1);
  const later = await run.before({ id: 'd', ...EDIT });
  expect(later?.checkpointId).not.toBe(answers[0]?.checkpointId);
  const again = await run.before({ id: 'b', ...EDIT });
  expect(again?.checkpointId).toBe(answers[0]?.checkpointId);
  expect((await session.timeline()).checkpoints, 'the baseline, and two').toHaveLength(3);
  await session.end();
});

test('an id that a host uses again in a later turn does not answer the older checkpoint', async () => {
  const session = await begin();
  const seen: (string | undefined)[] = [];
  for (const id of ['m-1', 'm-2', 'm-3']) {
    const run = session.run({ message: { id } });
    await run.guard({ id: 'call_0', ...EDIT }, () => world.write('api/file.txt', id));
    seen.push((await run.before({ id: 'call_0', ...EDIT }))?.checkpointId);
    await run.finish();
  }
  expect(new Set(seen).size).toBe(3);
  await session.end();
});

const LOST: Record<string, FaultAction> = {
  'never arrives': { kind: 'drop' },
  'is done, and its answer is lost': { kind: 'lose-answer' },
  'is done, and its answer breaks off': { kind: 'cut-answer', afterBytes: 20 },
  'meets a server error': { kind: 'status', status: 500 },
  'is throttled': {
    kind: 'status',
    status: 429,
    body: '{"Message":"Rate exceeded"}',
    headers: { 'x-amzn-errortype': 'TooManyRequestsException' },
  },
};

for (const [what, action] of Object.entries(LOST))
  test(`a call that ${what} is made again with the same id, and nothing is doubled`, async () => {
    const session = await begin();
    const { walkback, proxy } = await world.through([{ match: INVOCATION, at: 1, action }]);
    const run = (await walkback.sessions.get(session.sessionId)).run({ message: { id: 'm' } });
    const answer = await run.before({ id: 'call-1', ...EDIT });
    expect(proxy.count(INVOCATION), 'no retries but ours').toBe(2);
    const { checkpoints } = await session.timeline();
    expect(checkpoints.map(({ checkpointId }) => checkpointId)).toContain(answer?.checkpointId);
    expect(checkpoints).toHaveLength(2);
    await session.end();
  });

test('an abort ends the waiting, and the same call goes on where it was', async () => {
  const session = await begin();
  const { walkback, proxy } = await world.through([
    { match: INVOCATION, at: 1, action: { kind: 'lose-answer' } },
  ]);
  const stop = new AbortController();
  const run = (await walkback.sessions.get(session.sessionId)).run({
    message: { id: 'm' },
    signal: stop.signal,
  });
  const waiting = run.before({ id: 'call-1', ...EDIT });
  await proxy.reached(1, INVOCATION);
  stop.abort(new Error('the person pressed stop'));
  await expect(waiting).rejects.toThrow('the person pressed stop');
  const next = session.run({ message: { id: 'm' } });
  await next.before({ id: 'call-1', ...EDIT });
  expect((await session.timeline()).checkpoints).toHaveLength(2);
  await session.end();
});

test('a checkpoint that fails blocks its tool, or warns and lets it run', async () => {
  const session = await begin();
  const refused: Fault[] = [{ match: INVOCATION, action: { kind: 'status', status: 403 } }];
  const blocking = await world.through(refused);
  const blocked = (await blocking.walkback.sessions.get(session.sessionId)).run();
  let ran = 0;
  const tool = () => (ran += 1);
  await expect(blocked.guard({ id: 'a', ...EDIT }, tool)).rejects.toThrow(WalkbackError);
  expect(ran).toBe(0);

  const warnings: CheckpointWarning[] = [];
  const warning = await world.through(refused, {
    onCheckpointError: 'warn',
    onWarning: (one) => warnings.push(one),
  });
  const run = (await warning.walkback.sessions.get(session.sessionId)).run();
  expect(await run.guard({ id: 'b', ...EDIT }, tool)).toBe(1);
  expect(warnings).toMatchObject([{ sessionId: session.sessionId, call: { id: 'b' } }]);

  await session.rollback({ to: (await session.checkpoint({ id: 'here' })).checkpointId });
  warning.proxy.setPlan([]);
  await expect(run.guard({ id: 'c', ...EDIT }, tool), 'a stale run is over all the same').rejects.toThrow(
    errors.StaleEpoch,
  );
  expect(ran).toBe(1);
  await session.end();
});

test('what a function refuses is an error of its literal name, with what to do', async () => {
  const asked = world.walkback.sessions.get('nobody');
  await expect(asked).rejects.toMatchObject({
    name: 'SessionNotFound',
    kind: 'refusal',
    retryable: false,
    advice: expect.stringContaining('walkback.sessions.list()') as string,
  });
  await expect(asked).rejects.toBeInstanceOf(errors.SessionNotFound);
});
