/** What people read of a checkpoint, on the embedded cloud: kept with it, gone with it, and in nothing else. */
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import type { ListSessionsAnswer, TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { storedKeys } from '../support/stored-objects.ts';
import { openWorld, sdkOf, shell } from '../support/world.ts';

const SECRET = 'opensesame-word';
const DAY_MS = 86_400_000;

const contents = async (cloud: TestCloud): Promise<string[]> =>
  (await storedKeys(cloud)).filter((key) => key.includes('/content/'));

test('what was said is in no log, no event and no error, and what changed is answered without a sandbox', async () => {
  // Here functions log only errors, unless somebody wants more.
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'DEBUG');
  onTestFinished(() => void vi.unstubAllEnvs());
  await using cloud = await startTestCloud();
  const written: string[] = [];
  const listen = (stream: NodeJS.WriteStream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
  const taps = [listen(process.stdout), listen(process.stderr)];
  onTestFinished(() => {
    for (const tap of taps) tap.mockRestore();
  });
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  const { sessionId } = world;
  const asked = (toolExecutionId: string, messageId: string, more: object) =>
    cloud.invoke('checkpoint', { sessionId, messageId, toolExecutionId, reason: 'before-tool', ...more });
  const text = `Rename it, ${SECRET}\n${'and so on '.repeat(3000)}`;
  await asked('t1', 'm1', {
    message: { role: 'user', text },
    tool: { name: 'Bash', input: { command: SECRET } },
  });
  shell(
    world.root,
    `cd api; printf 'one\\ntwo ${SECRET}\\n' > a.txt; git add a.txt; git commit -qm work; git switch -qc topic; rm -r ../web/src`,
  );
  await asked('t2', 'm1', { tool: { name: 'Edit', input: SECRET } });
  // Refused, each for another reason.
  await expect(asked('t2', 'm2', { message: { role: 'user', text } })).rejects.toMatchObject({
    errorType: 'RequestConflict',
  });
  const bad = asked('t3', 'm2', { message: { role: 'user', text, sekret: SECRET } });
  await expect(bad).rejects.toMatchObject({ errorType: 'InvalidInput' });
  expect(JSON.stringify(await bad.catch((error: unknown) => error))).not.toContain(SECRET);
  await cloud.settled();
  // The functions did log.
  expect(written.join('')).toContain('checkpoint');
  expect(written.join('')).not.toContain(SECRET);
  expect(JSON.stringify(cloud.events())).not.toContain(SECRET);
  expect(cloud.events().length).toBeGreaterThan(2);

  const timeline = (await cloud.invoke('timeline', { sessionId })) as unknown as TimelineAnswer;
  expect(timeline.messages).toMatchObject([{ messageId: 'm1', role: 'user', title: `Rename it, ${SECRET}` }]);
  const [second, first] = timeline.checkpoints;
  expect([first?.tool, second?.tool]).toEqual([{ name: 'Bash' }, { name: 'Edit' }]);
  expect(second?.repositories).toMatchObject([
    { path: 'api', changes: { files: 1, added: 1, deleted: 0 } },
    { path: 'web', changes: { files: 1, added: 0, deleted: 1 } },
  ]);
  // The same in small: what a page of many shows.
  const brief = (await cloud.invoke('timeline', { sessionId, brief: true })) as unknown as TimelineAnswer;
  expect(brief).toEqual({
    ...timeline,
    checkpoints: timeline.checkpoints.map((one, at) => ({
      ...one,
      repositories: [],
      failures: [],
      skipped: [],
      lines: at === 0 ? { added: 1, deleted: 1 } : { added: 0, deleted: 0 },
    })),
  });
  // What a list of sessions says is what its checkpoints add up to.
  const { sessions } = (await cloud.invoke('list-sessions', {})) as unknown as ListSessionsAnswer;
  expect(sessions).toMatchObject([{ sessionId, lines: { added: 1, deleted: 1 }, repositories: 2 }]);

  await sdkOf(cloud).kill(world.sandboxId);
  const ask = async (input: object) =>
    (await cloud.invoke('changes', { sessionId, ...input })) as unknown as ChangesAnswer;
  const { checkpoints } = await ask({ messageId: 'm1' });
  expect(checkpoints.map(({ seq, parentCheckpointId }) => [seq, parentCheckpointId !== null])).toEqual([
    [2, true],
    [3, true],
  ]);
  expect(checkpoints[0]).toMatchObject({
    message: { role: 'user', truncated: true },
    tool: { name: 'Bash', input: `{"command":"${SECRET}"}`, truncated: false },
    repositories: [],
    warnings: [],
  });
  expect(text.startsWith(checkpoints[0]?.message?.text ?? '-')).toBe(true);
  // It was taken before Edit, so it has the work of the call before.
  expect(checkpoints[0]).not.toHaveProperty('madeBy');
  expect(checkpoints[1]).toMatchObject({
    madeBy: { name: 'Bash', input: `{"command":"${SECRET}"}`, truncated: false },
    tool: { name: 'Edit', input: SECRET },
  });
  const [api, web] = checkpoints[1]?.repositories ?? [];
  expect(api).toMatchObject({
    path: 'api',
    change: 'changed',
    counts: { files: 1, added: 1, deleted: 0 },
    files: [{ path: 'a.txt', change: 'modified', added: 1, deleted: 0 }],
    host: { head: { from: { branch: 'main' }, to: { branch: 'topic' } } },
    truncated: false,
  });
  expect(api?.patch).toContain(`\n one\n+two ${SECRET}\n`);
  expect(web).toMatchObject({ files: [{ path: 'src/deep/with space.txt', change: 'deleted' }] });
  const alone = await ask({ checkpointId: second?.checkpointId, path: 'web' });
  expect(alone.checkpoints).toMatchObject([{ repositories: [{ path: 'web' }] }]);
  await expect(ask({ checkpointId: second?.checkpointId, path: 'no' })).rejects.toMatchObject({
    errorType: 'InvalidInput',
  });
  const baseline = await ask({ checkpointId: timeline.checkpoints.at(-1)?.checkpointId });
  expect(baseline.checkpoints).toMatchObject([
    { repositories: [], warnings: [expect.stringContaining('baseline')] },
  ]);

  // It goes with its checkpoint, and no object stays behind.
  const objects = await contents(cloud);
  expect(objects).toHaveLength(2);
  const Bucket = cloud.environment['WALKBACK_BUCKET'];
  const bytes = await (
    await new S3Client().send(new GetObjectCommand({ Bucket, Key: objects[0] }))
  ).Body?.transformToByteArray();
  expect(Buffer.from(bytes ?? []).toString('latin1')).not.toContain(SECRET);
  await cloud.expireItems(new Date(Date.now() + 30.5 * DAY_MS));
  await cloud.settled();
  await expect(ask({ messageId: 'm1' })).rejects.toMatchObject({ errorType: 'SessionNotFound' });
  await cloud.expireItems(new Date(Date.now() + 32 * DAY_MS));
  await cloud.settled();
  expect(await contents(cloud)).toEqual([]);
}, 180_000);

test('a bucket that refuses: a checkpoint that stores no bundle is taken, and says what it does not keep', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: ['api'] });
  const { sessionId } = world;
  await cloud.interpose('s3', [{ action: { kind: 'status', status: 403 } }]);
  const taken = await cloud.invoke('checkpoint', {
    sessionId,
    messageId: 'm1',
    toolExecutionId: 't1',
    reason: 'before-tool',
    message: { role: 'user', text: 'x'.repeat(5000) },
  });
  expect(taken['complete']).toBe(true);
  cloud.heal();
  const asked = { sessionId, checkpointId: taken['checkpointId'] };
  const answer = (await cloud.invoke('changes', asked)) as unknown as ChangesAnswer;
  expect(answer.checkpoints[0]).toMatchObject({
    message: { role: 'user', title: 'x'.repeat(255).concat('…') },
  });
  expect(answer.checkpoints[0]?.message?.text).toBeUndefined();
  expect(answer.checkpoints[0]?.warnings[0]).toContain('it could not be stored');
}, 180_000);
