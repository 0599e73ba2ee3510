/** Calls that must be refused: with a literal name, a message that says what to do, and nothing changed. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect } from 'vitest';
import { FunctionFailure, startTestCloud, type TestCloud } from '../support/cloud.ts';
import { inTurn, sampledTest } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
import { edit, openWorld, type Recorded, sandboxIds, sdkOf, type World } from '../support/world.ts';

const test = inTurn('rollback-refused');

const PATHS = ['api', 'web'];

let cloud: TestCloud;
let world: World;
let first: Recorded;
beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: PATHS });
  edit(world.root, 1, PATHS);
  first = await world.checkpoint('t1', 'msg-1');
  edit(world.root, 2, PATHS);
  await world.checkpoint('t2', 'msg-2');
  edit(world.root, 3, PATHS);
});
afterAll(() => cloud.close());

const failureOf = async (name: string, event: unknown): Promise<{ errorType: string; message: string }> => {
  try {
    await cloud.invoke(name, event);
  } catch (error) {
    if (error instanceof FunctionFailure) return error;
    throw error;
  }
  throw new Error(`${name} was not refused`);
};

/** Everything a refused call could have changed. */
const state = async (of: World) => ({
  looks: of.fingerprint(),
  timeline: await of.timeline(),
  sandboxes: await sandboxIds(cloud),
});

/** As it was after the last call that was refused; who changes something on purpose forgets it. */
let known: Awaited<ReturnType<typeof state>> | undefined;

const changesNothing = async (calls: () => Promise<void>): Promise<void> => {
  const before = known ?? (await state(world));
  await calls();
  known = await state(world);
  expect(known).toEqual(before);
};

const refuses = (name: string, event: unknown, errorType: string, advice: RegExp): Promise<void> =>
  changesNothing(async () => {
    const failure = await failureOf(name, event);
    expect(failure.errorType).toBe(errorType);
    expect(failure.message).toMatch(advice);
    expect(failure.message).not.toMatch(/\n\s+at /);
  });

const tool = { messageId: 'm', toolExecutionId: 't', reason: 'r' };

test.each([
  ['checkpoint', tool],
  ['rollback', { messageId: 'm', requestId: 'r' }],
  ['rehydrate', { requestId: 'r' }],
  ['timeline', {}],
  ['context', {}],
  ['end-session', {}],
])('%s of an unknown session', (name, event) =>
  refuses(
    name,
    { sessionId: 'nobody', ...event },
    'SessionNotFound',
    /no session "nobody".*walkback-start-session/,
  ),
);

test.each(['rollback', 'rehydrate'])('%s to an unknown message', (name) =>
  refuses(
    name,
    { sessionId: 's1', messageId: 'msg-9', requestId: 'r' },
    'MessageNotFound',
    /Nearest known messages: .*msg-1/,
  ),
);

test.each(['rollback', 'rehydrate'])('%s to an unknown checkpoint', (name) =>
  refuses(
    name,
    { sessionId: 's1', checkpointId: 'cp-00000002-00000000', requestId: 'r' },
    'CheckpointNotFound',
    /Newest: cp-00000003/,
  ),
);

const TRICKS = [
  '$(touch /tmp/x)',
  '`id`',
  '; touch /tmp/x',
  '../../etc',
  'a/b',
  '-rf',
  "a'b",
  'a\nb',
  'a\0b',
  '',
  'x'.repeat(65),
  'é',
];

/** Some of them, others each time; all of them in `npm run test:long`. Of what takes long, a third. */
const sampledLong = sampledTest('rollback-refused', 4);
test.each(sampled(TRICKS, { every: 4, offset: printedSeed('tricks') }))(
  'an id like %j is refused wherever an id stands',
  async (id) => {
    const events: [string, Record<string, unknown>][] = [
      ['checkpoint', { ...tool, sessionId: id }],
      ['checkpoint', { ...tool, sessionId: 's1', messageId: id }],
      ['checkpoint', { ...tool, sessionId: 's1', toolExecutionId: id }],
      ['rollback', { sessionId: 's1', messageId: 'msg-1', requestId: id }],
      ['rollback', { sessionId: 's1', messageId: id, requestId: 'r' }],
      ['rollback', { sessionId: 's1', checkpointId: id, requestId: 'r' }],
      ['rollback', { sessionId: 's1', messageId: 'msg-1', requestId: 'r', sandboxId: id }],
      ['rehydrate', { sessionId: 's1', requestId: id }],
      ['rehydrate', { sessionId: 's1', template: id }],
      ['start-session', { sessionId: id, sandboxId: world.sandboxId, projectsRoot: '/home/user/work' }],
      ['start-session', { sandboxId: id, projectsRoot: '/home/user/work' }],
      ['start-session', { sandboxId: world.sandboxId, projectsRoot: `/home/user/../${id}` }],
      ['timeline', { sessionId: id }],
    ];
    const refusesAll = async () => {
      for (const [name, event] of events) {
        // These two are ids of E2B, which may be longer, and a template may have a namespace.
        if (id.length === 65 && (event['sandboxId'] === id || event['template'] === id)) continue;
        if (id === 'a/b' && event['template'] === id) continue;
        const { errorType, message } = await failureOf(name, event);
        expect([errorType, message], `${name} ${JSON.stringify(event)}`).toEqual([
          'InvalidInput',
          expect.stringMatching(/The input is not valid\. \w+: /),
        ]);
      }
    };
    await changesNothing(refusesAll);
  },
);

test.each([
  ['checkpoint', { ...tool, sessionId: 's1' }],
  ['rollback', { sessionId: 's1', messageId: 'msg-1', requestId: 'r' }],
  ['rehydrate', { sessionId: 's1' }],
  ['timeline', { sessionId: 's1' }],
])('%s with an unknown field', (name, event) =>
  refuses(name, { ...event, surprise: 1 }, 'InvalidInput', /unknown field "surprise"/),
);

test('a tool execution id that is ours', () =>
  refuses(
    'checkpoint',
    { ...tool, sessionId: 's1', toolExecutionId: 'walkback-baseline' },
    'InvalidInput',
    /toolExecutionId: .*reserved/,
  ));

test('an epoch that never was', () =>
  refuses(
    'checkpoint',
    { ...tool, sessionId: 's1', epoch: 7 },
    'StaleEpoch',
    /Epoch 7 is not the current epoch 1/,
  ));

test('a request id with another meaning', async () => {
  await cloud.invoke('rehydrate', { sessionId: 's1', messageId: 'msg-1', requestId: 'taken' });
  known = undefined;
  await refuses(
    'rehydrate',
    { sessionId: 's1', messageId: 'msg-2', requestId: 'taken' },
    'RequestConflict',
    /new requestId/,
  );
  await refuses(
    'checkpoint',
    { ...tool, sessionId: 's1', toolExecutionId: 't1', messageId: 'msg-2' },
    'RequestConflict',
    /new toolExecutionId/,
  );
});

/** Objects of the session that belong to the links of one repository or another, oldest name first. */
const bundles = async (prefix: string): Promise<{ key: string; file: string }[]> => {
  const Bucket = cloud.environment['WALKBACK_BUCKET'] ?? '';
  const { Contents = [] } = await new S3Client().send(new ListObjectsV2Command({ Bucket, Prefix: prefix }));
  const directory = join(cloud.dataDir, 's3', 'buckets', Bucket);
  const names = (await readdir(directory, { recursive: true })).map((name) => join(directory, name));
  const contents = new Map<string, string>();
  for (const file of names) {
    const text = await readFile(file, 'latin1').catch(() => undefined);
    if (text !== undefined) contents.set(file, text);
  }
  return Contents.map(({ Key = '' }) => {
    const found = [...contents].find(([, text]) => text.includes(JSON.stringify(Key)));
    if (found === undefined) throw new Error(`no file holds ${Key}`);
    return { key: Key, file: found[0] };
  });
};

const loseShadows = async (): Promise<void> => {
  for (const path of PATHS)
    await rm(join(world.root, path, '.agent-shadow'), { recursive: true, force: true });
};

/** What both operations say about a bundle that is not what it was; the files stay, and no sandbox is left. */
const refusesBundles = async (round: string, errorType: string): Promise<void> => {
  const before = await state(world);
  await loseShadows();
  const target = { sessionId: 's1', checkpointId: first.checkpointId, requestId: round };
  // The rollback a second time: what was refused is refused again.
  for (const name of ['rehydrate', 'rollback', 'rollback']) {
    const failure = await failureOf(name, target);
    expect(failure.errorType, name).toBe(errorType);
    expect(failure.message, name).toMatch(/[Cc]hoose another checkpoint|[Tt]ry another checkpoint/);
  }
  expect(await state(world)).toEqual(before);
};

sampledLong('a bundle whose bytes have changed in the bucket', async () => {
  const [bundle] = await bundles('bases/session/s1/');
  if (bundle === undefined) throw new Error('no bundle');
  const bytes = await readFile(bundle.file);
  const broken = Buffer.from(bytes);
  broken[200] = (broken[200] ?? 0) ^ 1;
  await writeFile(bundle.file, broken);
  // What the store says of it is as before: it is read before anything begins.
  await refusesBundles('corrupt', 'BundleCorrupt');
  await writeFile(bundle.file, bytes);
  // And it is this byte alone that was in the way.
  const back = await world.rollback('mended', first.checkpointId);
  expect(world.fingerprint()).toEqual(first.looks);
  await world.rollback('mended-undo', String(back['undoCheckpointId']));
});

sampledLong('a large bundle of another sandbox, whose bytes have changed in the bucket', async () => {
  const moved = await openWorld(cloud, { sessionId: 's-moved', paths: ['api', 'web'] });
  await writeFile(join(moved.root, 'web/large'), randomBytes(300_000));
  const there = await moved.checkpoint('there', 'msg-1');
  await rm(join(moved.root, 'web'), { recursive: true });
  moved.paths = ['api'];
  await moved.checkpoint('gone', 'msg-2');
  const { sandboxId } = await cloud.invoke('rehydrate', { sessionId: 's-moved', mode: 'resume' });
  moved.sandboxId = String(sandboxId);
  const large = await Promise.all(
    (await bundles('sessions/s-moved/')).map(async ({ file }) => ({ file, bytes: await readFile(file) })),
  );
  const [bundle] = large.filter(({ bytes }) => bytes.length > 250_000);
  if (bundle === undefined) throw new Error('no large bundle');
  const broken = Buffer.from(bundle.bytes);
  broken[200_000] = (broken[200_000] ?? 0) ^ 1;
  await writeFile(bundle.file, broken);
  const before = await state(moved);
  const target = { sessionId: 's-moved', checkpointId: there.checkpointId };
  expect(await failureOf('rollback', { ...target, requestId: 'r1' })).toMatchObject({
    errorType: 'BundleCorrupt',
  });
  expect(await state(moved)).toEqual(before);
  await writeFile(bundle.file, bundle.bytes);
  expect(await cloud.invoke('rollback', { ...target, requestId: 'r2' })).toMatchObject({ status: 'APPLIED' });
  moved.paths = ['api', 'web'];
  expect(moved.fingerprint()).toEqual(there.looks);
});

sampledLong('an incomplete checkpoint is no target, unless what it holds is enough', async () => {
  known = undefined;
  const looks = world.fingerprint();
  // The repository's shadow cannot be made where a file of the agent stands.
  await loseShadows();
  await writeFile(join(world.root, 'web/.agent-shadow'), 'mine\n');
  const partial = await cloud.invoke('checkpoint', {
    ...tool,
    sessionId: 's1',
    toolExecutionId: 'partial',
    messageId: 'msg-p',
  });
  expect(partial).toMatchObject({ complete: false, failures: [{ path: 'web' }] });
  await rm(join(world.root, 'web/.agent-shadow'));
  const id = String(partial['checkpointId']);
  expect(world.fingerprint()).toEqual(looks);
  for (const target of [{ checkpointId: id }, { messageId: 'msg-p' }]) {
    await refuses(
      'rollback',
      { sessionId: 's1', ...target, requestId: 'incomplete' },
      'IncompleteTarget',
      /does not hold everything: web.*allowPartial.*cp-0/,
    );
  }
  edit(world.root, 4, ['api']);
  const back = await cloud.invoke('rollback', {
    sessionId: 's1',
    checkpointId: id,
    requestId: 'partial',
    allowPartial: true,
  });
  expect(back).toMatchObject({ status: 'APPLIED' });
  expect(world.fingerprint()).toEqual(looks);
});

sampledLong('a bundle that is gone from the bucket', async () => {
  const Bucket = cloud.environment['WALKBACK_BUCKET'];
  const [bundle] = await bundles('bases/session/s1/');
  await new S3Client().send(new DeleteObjectCommand({ Bucket, Key: bundle?.key }));
  await refusesBundles('missing', 'BundleMissing');
});

sampledLong('a projects root that is gone, until it is made again', async () => {
  const gone = await openWorld(cloud, { sessionId: 's-root', paths: ['api'] });
  const kept = await gone.checkpoint('kept', 'msg-1');
  const { root } = gone;
  await rm(root, { recursive: true });
  for (const [name, event] of [
    ['checkpoint', { ...tool, sessionId: 's-root' }],
    ['rollback', { sessionId: 's-root', messageId: 'msg-1', requestId: 'r1' }],
  ] as const) {
    const failure = await failureOf(name, event);
    expect([name, failure.errorType]).toEqual([name, 'ProjectsRootNotFound']);
    expect(failure.message).toMatch(/mkdir -p/);
  }
  await mkdir(root);
  expect(await gone.rollback('r2', kept.checkpointId)).toMatchObject({ status: 'APPLIED' });
  expect(gone.fingerprint()).toEqual(kept.looks.filter((line) => !line.includes('cache.ignored')));
});

test('a sandbox that is gone', async () => {
  const before = await world.timeline();
  await sdkOf(cloud).kill(world.sandboxId);
  for (const [name, event] of [
    ['checkpoint', { ...tool, sessionId: 's1', toolExecutionId: 'after' }],
    ['rollback', { sessionId: 's1', messageId: 'msg-1', requestId: 'after' }],
    ['context', { sessionId: 's1' }],
  ] as const) {
    const failure = await failureOf(name, event);
    expect([name, failure.errorType]).toEqual([name, 'SandboxNotFound']);
    expect(failure.message).toMatch(/walkback-rehydrate and mode "resume"/);
  }
  expect(await world.timeline()).toEqual(before);
});
