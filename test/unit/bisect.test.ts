/** The whole search on fakes: which checkpoint, through forks and merges, with skips, and what is refused. */
import { expect, test } from 'vitest';
import { errorOf } from '../support/error-of.ts';
import { createBisectStage, type Judge } from '../support/fakes/bisect-stage.ts';
import { SANDBOX, SESSION } from '../support/fakes/stage.ts';

const contains =
  (repository: string, file: string, word: string): Judge =>
  (files) =>
    files[repository]?.[file]?.includes(word) === true ? 1 : 0;

const BROKEN = contains('api', 'a.txt', 'broken');

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

test('finds the message of thirty that broke it, with few copies, some at once, and kills each', async () => {
  const { work, bisect, ran, most, copies, stage } = await createBisectStage(BROKEN);
  const ids = new Map<string, string>();
  for (const n of numbers(1, 30)) {
    ids.set(`m${n}`, await work(`m${n}`, 'api/a.txt', n < 18 ? `fine ${n}` : `broken ${n}`));
  }
  const before = stage.world.filesOf(SANDBOX);
  const answer = await bisect();
  expect(answer).toMatchObject({
    outcome: 'found',
    suspects: [
      {
        messageId: 'm18',
        checkpointId: ids.get('m18'),
        previousCheckpointId: ids.get('m17'),
        sessionId: SESSION,
      },
    ],
    good: { checkpointId: ids.get('m17'), verdict: 'good', exitCode: 0, output: 'exit 0\n' },
    bad: { checkpointId: ids.get('m18'), verdict: 'bad', exitCode: 1, output: 'exit 1\n' },
    through: [],
    checkpoints: 31,
  });
  expect(ran.length).toBeLessThan(12);
  expect(answer.tried).toHaveLength(ran.length);
  expect(most()).toBe(3);
  expect(copies()).toEqual([]);
  expect(stage.world.filesOf(SANDBOX)).toEqual(before);

  // The same request is answered again, and makes no copy; so it is when the head has moved on.
  const count = ran.length;
  await work('m31', 'api/a.txt', 'broken 31');
  expect(await bisect()).toEqual(answer);
  expect(ran).toHaveLength(count);
  await expect(bisect({ command: 'another' })).rejects.toMatchObject({ name: 'RequestConflict' });
});

test('a tool call is named by the checkpoint that was taken before it', async () => {
  const { stage, bisect } = await createBisectStage(BROKEN);
  const { checkpoint } = stage.instance();
  await checkpoint('m1', 't1', { tool: { name: 'write', input: 'a.txt' }, forMessageId: 'm1' });
  stage.edit('api', { 'a.txt': 'broken' });
  await checkpoint('m1', 't2', { tool: { name: 'read' } });
  const { suspects } = await bisect();
  expect(suspects).toMatchObject([
    { messageId: 'm1', madeBy: { name: 'write', input: 'a.txt', truncated: false } },
  ]);
});

test('checkpoints that changed nothing are not tried', async () => {
  const { work, stage, bisect, ran } = await createBisectStage(BROKEN);
  await work('m1', 'api/a.txt', 'broken');
  for (const n of numbers(2, 20)) await stage.instance().checkpoint(`m${n}`, `t${n}`);
  const { suspects, checkpoints } = await bisect();
  expect(suspects.map(({ messageId }) => messageId)).toEqual(['m1']);
  expect(checkpoints).toBe(21);
  expect(ran).toHaveLength(2);
});

test('goes between the points that are named', async () => {
  const { work, bisect } = await createBisectStage(BROKEN);
  const texts = ['fine', 'broken', 'mended', 'mended more', 'broken again', 'broken still'];
  for (const [at, text] of texts.entries()) await work(`m${at}`, 'api/a.txt', text);
  expect((await bisect({ bad: 'm1', requestId: 'a' })).suspects).toMatchObject([{ messageId: 'm1' }]);
  expect((await bisect({ good: 'm2', requestId: 'b' })).suspects).toMatchObject([{ messageId: 'm4' }]);
  // Without them, one of both is found, between points that were tried.
  const { good, bad, suspects } = await bisect({ requestId: 'c' });
  expect(['m1', 'm4']).toContain(suspects[0]?.messageId);
  expect([good.verdict, bad.verdict]).toEqual(['good', 'bad']);
});

test('what cannot be judged is skipped; when nothing else is left between, all candidates are answered', async () => {
  const { work, bisect, copies } = await createBisectStage((files) => {
    const text = files['api']?.['a.txt'] ?? '';
    return text.includes('no build') ? 125 : text.includes('broken') ? 1 : 0;
  });
  const texts = ['fine', 'fine 2', 'no build 1', 'no build 2', 'broken', 'broken 2', 'broken 3'];
  for (const [at, text] of texts.entries()) await work(`m${at}`, 'api/a.txt', text);
  const answer = await bisect();
  expect(answer.outcome).toBe('candidates');
  expect(answer.suspects.map(({ messageId }) => messageId)).toEqual(['m2', 'm3', 'm4']);
  expect(answer.tried.filter(({ verdict }) => verdict === 'skipped')).toHaveLength(2);
  expect(copies()).toEqual([]);
});

test('a checkpoint that no copy can be made of is skipped, and says why', async () => {
  const { work, bisect, stage, copies } = await createBisectStage(BROKEN);
  await work('m1', 'api/a.txt', 'fine');
  await work('m2', 'api/a.txt', 'fine 2');
  await work('m3', 'api/a.txt', 'broken');
  const restore = { ...stage.world.repositories };
  stage.world.repositories.restore = async (sandbox, request) => {
    const report = await restore.restore(sandbox, request);
    const isMiddle = stage.world.filesOf(sandbox.sandboxId)['api']?.['a.txt'] === 'fine 2';
    return isMiddle
      ? { ...report, outcome: 'refused', problems: [{ path: 'api', kind: 'failed', message: 'torn' }] }
      : report;
  };
  const answer = await bisect({ good: 'm1' });
  expect(answer).toMatchObject({
    outcome: 'candidates',
    suspects: [{ messageId: 'm2' }, { messageId: 'm3' }],
  });
  expect(answer.tried).toContainEqual(
    expect.objectContaining({
      verdict: 'skipped',
      exitCode: null,
      note: expect.stringMatching(/^no copy .*torn/),
    }),
  );
  expect(copies()).toEqual([]);
});

test('a repository that was made later: what is before it is not tried', async () => {
  const { work, bisect, ran } = await createBisectStage(contains('late', 'l.txt', 'broken'));
  await work('m1', 'api/a.txt', 'one');
  await work('m2', 'late/l.txt', 'fine');
  await work('m3', 'api/a.txt', 'two');
  await work('m4', 'late/l.txt', 'broken');
  const { suspects, checkpoints } = await bisect({ repository: 'late' });
  expect(suspects).toMatchObject([{ messageId: 'm4' }]);
  expect(checkpoints).toBe(3);
  expect(ran.every((files) => files['late'] !== undefined)).toBe(true);
  await expect(bisect({ repository: 'none', requestId: 'n' })).rejects.toMatchObject(
    errorOf('InvalidInput', /^repository: .*"none"/),
  );
  await expect(bisect({ repository: 'late', good: 'm1', requestId: 'g' })).rejects.toMatchObject({
    name: 'PointNotJudged',
  });
});

test.each([
  ['a good point that is bad', { good: 'm2' }, 'GoodPointFails', /^good: .*exit code 1/],
  ['a bad point that is good', { bad: 'm1' }, 'BadPointPasses', /^bad: /],
  ['a point where nothing changed since', { good: 'm3' }, 'InvalidInput', /nothing changed between/],
  ['a good point behind the bad one', { good: 'm3', bad: 'm2' }, 'InvalidInput', /is not on the way/],
  ['a message that is not there', { good: 'mx' }, 'MessageNotFound', /mx/],
  ['a checkpoint that is not there', { bad: 'cp-00000099-00000000' }, 'CheckpointNotFound', /cp-00000099/],
] as const)('%s is refused by name', async (_, input, name, message) => {
  const { work, bisect, copies } = await createBisectStage(BROKEN);
  await work('m1', 'api/a.txt', 'fine');
  await work('m2', 'api/a.txt', 'broken');
  await work('m3', 'api/a.txt', 'broken 3');
  await expect(bisect(input)).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
  expect(copies()).toEqual([]);
});

test('a point that the command cannot judge is refused by name, without its output', async () => {
  const { work, bisect } = await createBisectStage(() => 125);
  await work('m1', 'api/a.txt', 'broken');
  const error = await bisect().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ name: 'PointNotJudged', message: expect.not.stringContaining('exit 125\n') });
});

test('what a rollback left behind is not on the way', async () => {
  const { work, bisect, stage } = await createBisectStage(BROKEN);
  const first = await work('m1', 'api/a.txt', 'fine');
  await work('m2', 'api/a.txt', 'broken');
  await stage.instance().rollback({ checkpointId: first, requestId: 'r1' });
  await work('m3', 'api/a.txt', 'fine 3');
  await work('m4', 'api/a.txt', 'broken 4');
  expect((await bisect()).suspects).toMatchObject([{ messageId: 'm4' }]);
  await expect(bisect({ good: 'm2', requestId: 'x' })).rejects.toMatchObject(
    errorOf('InvalidInput', 'a rollback left it behind'),
  );
});

test('a fork goes on where its source stood', async () => {
  const { work, bisect, stage } = await createBisectStage(BROKEN);
  const good = await work('m1', 'api/a.txt', 'fine');
  await work('m2', 'api/a.txt', 'broken');
  await work('m3', 'web/w.txt', 'three');
  const fork = await stage.instance().fork();
  const of = { sessionId: fork.sessionId, sandboxId: fork.sandboxId };
  await work('f1', 'web/w.txt', 'four', of);
  const input = { sessionId: fork.sessionId };
  const found = [{ messageId: 'm2', sessionId: SESSION }];
  expect((await bisect({ ...input, requestId: 'a' })).suspects).toMatchObject(found);
  // A point of the source is named as it is there.
  expect((await bisect({ ...input, good, requestId: 'b' })).suspects).toMatchObject(found);
  expect((await bisect({ ...input, good: 'm1', requestId: 'c' })).suspects).toMatchObject(found);
  await expect(bisect({ ...input, good: 'm3', requestId: 'd' })).rejects.toMatchObject({
    name: 'GoodPointFails',
  });
});

/** A fork that changes the web, while its source goes on with the api. */
const forked = async (
  judge: Judge,
  inFork: readonly string[],
  before: readonly string[],
  after: readonly string[],
) => {
  const all = await createBisectStage(judge);
  const { stage, work } = all;
  await work('m1', 'notes/n.txt', 'one');
  const fork = await stage.instance().fork();
  const of = { sessionId: fork.sessionId, sandboxId: fork.sandboxId };
  for (const [at, text] of inFork.entries()) await work(`f${at}`, 'web/w.txt', text, of);
  for (const [at, text] of before.entries()) await work(`b${at}`, 'api/a.txt', text);
  await stage.instance().merge({ from: fork.sessionId, into: SESSION, requestId: 'merge' });
  for (const [at, text] of after.entries()) await work(`a${at}`, 'api/a.txt', text);
  return { ...all, fork };
};

test('what a merge brought is searched in the fork', async () => {
  const broken = contains('web', 'w.txt', 'broken');
  const { bisect, fork, copies } = await forked(
    broken,
    ['1', '2', 'broken 3', 'broken 4'],
    ['1', '2'],
    ['3', '4'],
  );
  const answer = await bisect();
  expect(answer).toMatchObject({
    outcome: 'found',
    suspects: [{ messageId: 'f2', sessionId: fork.sessionId }],
    through: [{ reason: 'merge', sessionId: SESSION }],
    good: { sessionId: fork.sessionId },
    bad: { sessionId: fork.sessionId },
  });
  expect(copies()).toEqual([]);
});

test('a merge whose sides are good by themselves is what broke it', async () => {
  const both: Judge = (files) =>
    files['web']?.['w.txt'] === 'new' && files['api']?.['a.txt'] === 'new' ? 1 : 0;
  const { bisect } = await forked(both, ['new'], ['new'], []);
  expect(await bisect()).toMatchObject({
    outcome: 'found',
    suspects: [{ reason: 'merge', sessionId: SESSION }],
    through: [],
    note: expect.stringContaining('is good by itself'),
  });
});

test('a command that takes too long is bad, and said so', async () => {
  const { work, bisect } = await createBisectStage((files) =>
    files['api']?.['a.txt'] === 'slow'
      ? { kind: 'ended', exitCode: 124, milliseconds: 60_000, output: 'begun\n' }
      : 0,
  );
  await work('m1', 'api/a.txt', 'slow');
  expect((await bisect()).bad).toMatchObject({
    verdict: 'bad',
    exitCode: null,
    note: 'it took longer than 60 s, and was ended',
    output: 'begun\n',
  });
});

test('a call whose time is over stores what it has, and the next goes on', async () => {
  const { work, bisect, ran, copies } = await createBisectStage(BROKEN, { tookMs: 50_000 });
  for (const n of numbers(1, 60)) await work(`m${n}`, 'api/a.txt', n < 40 ? `fine ${n}` : `broken ${n}`);
  const errors: string[] = [];
  let answer: unknown;
  while (answer === undefined) {
    const before = ran.length;
    answer = await bisect({}, { limitMs: 200_000 }).catch((error: unknown) => {
      errors.push((error as Error).name);
      return undefined;
    });
    if (answer === undefined) expect(ran.length).toBeGreaterThan(before);
    expect(copies()).toEqual([]);
  }
  expect(answer).toMatchObject({ suspects: [{ messageId: 'm40' }] });
  expect(errors.length).toBeGreaterThan(0);
  expect(new Set(errors)).toEqual(new Set(['StillRunning']));
  // Nothing was tried twice.
  expect(new Set(ran.map((files) => files['api']?.['a.txt'])).size).toBe(ran.length);
});

test('a command that no call has time for is refused', async () => {
  const { work, bisect, copies } = await createBisectStage(BROKEN, { copyMs: 300_000 });
  await work('m1', 'api/a.txt', 'broken');
  await expect(bisect({ timeoutSeconds: 600 })).rejects.toMatchObject(
    errorOf('InvalidInput', 'timeoutSeconds'),
  );
  expect(copies()).toEqual([]);
});

test('a search of very many that cannot be judged ends, and says so', async () => {
  const { work, bisect, ran } = await createBisectStage((files) => {
    const text = files['api']?.['a.txt'] ?? '';
    return text === 'last' ? 1 : text.includes('no build') ? 125 : 0;
  });
  for (const n of numbers(1, 170)) await work(`m${n}`, 'api/a.txt', `no build ${n}`);
  await work('last', 'api/a.txt', 'last');
  const answer = await bisect();
  expect(answer).toMatchObject({ outcome: 'candidates', note: expect.stringContaining('at most 150') });
  expect(answer.suspects).toHaveLength(50);
  expect(answer.suspects.length + (answer.suspectsNotListed ?? 0)).toBe(171);
  expect(ran.length).toBeLessThan(153);
});

test('a call that begins with too little time says how much the command may take', async () => {
  const { work, bisect } = await createBisectStage(BROKEN);
  await work('m1', 'api/a.txt', 'broken');
  await expect(bisect({ timeoutSeconds: 600 }, { limitMs: 120_000 })).rejects.toMatchObject(
    errorOf('InvalidInput', 'Give at most 100.'),
  );
});

test('a search whose checkpoints have expired since says so', async () => {
  const { work, bisect, stage } = await createBisectStage(BROKEN);
  await work('m1', 'api/a.txt', 'fine');
  await work('m2', 'api/a.txt', 'broken');
  await bisect();
  // The head is kept longer than what is before it.
  for (const { seq } of stage.checkpoints().slice(0, -1))
    stage.store.tables.checkpoints.delete(`${SESSION}\n${seq}`);
  await expect(bisect()).rejects.toMatchObject(errorOf('CheckpointNotFound', 'retention is over'));
});
