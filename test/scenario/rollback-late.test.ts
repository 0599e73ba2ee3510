/** A process that writes while a rollback is at work: what it wrote is a checkpoint that the answer names. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { startWriter } from '../support/racing-writer.ts';
import { inTurn } from '../support/sampled-test.ts';
import { openWorld, rootOf } from '../support/world.ts';

const test = inTurn('rollback-late');

interface Answer {
  lateWrites?: { checkpointId: string; files: string[] };
  undoCheckpointId: string;
  warnings: string[];
}

test('what a process writes through a file it holds open is in a checkpoint, to go to, to compare and to rehydrate', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  const log = join(world.root, 'api/log.txt');
  writeFileSync(log, 'begin\n');
  const first = await world.checkpoint('t1', 'msg-1');
  writeFileSync(join(world.root, 'web/a.txt'), 'two\n');
  appendFileSync(log, 'more\n');
  await world.checkpoint('t2', 'msg-2');

  const writer = startWriter([log], Math.random, { manners: ['hold'], pause: 2 });
  let answer: Answer;
  try {
    answer = (await world.rollback('r1', first.checkpointId)) as unknown as Answer;
  } finally {
    await writer.stop();
  }
  const late = answer.lateWrites;
  expect(late?.files).toEqual(['api/log.txt']);
  expect(answer.warnings.join('\n')).toContain(
    `written by another process meanwhile, and stored as checkpoint ${late?.checkpointId}: api/log.txt`,
  );
  expect(answer.warnings.join('\n')).toContain('still open in a process, which may write on: log.txt');
  expect(world.fingerprint()).toEqual(first.looks);
  // The same request again is the same answer.
  expect(await world.rollback('r1', first.checkpointId)).toEqual(answer);

  const { checkpoints, session } = await world.timeline();
  const seqOf = (id: string | undefined) => checkpoints.find(({ checkpointId }) => checkpointId === id)?.seq;
  expect(session.headSeq).toBe(seqOf(first.checkpointId));
  expect(checkpoints.filter(({ reason }) => reason === 'late-writes')).toMatchObject([
    { checkpointId: late?.checkpointId, complete: true, messageId: 'msg-2' },
  ]);

  const compared = await cloud.invoke('diff', {
    sessionId: 's1',
    from: answer.undoCheckpointId,
    to: late?.checkpointId,
  });
  expect(JSON.stringify(compared)).toContain('+hold-log.txt-');

  // What was written after the answer is found by the next rollback.
  const next = (await world.rollback('r2', late?.checkpointId ?? '')) as unknown as Answer;
  const lines = new Set(readFileSync(log, 'utf8').split('\n'));
  expect(readFileSync(join(world.root, 'web/a.txt'), 'utf8')).toBe('two\n');
  const target = next.lateWrites?.checkpointId ?? late?.checkpointId;
  const { sandboxId } = await cloud.invoke('rehydrate', { sessionId: 's1', checkpointId: target });
  for (const line of readFileSync(join(rootOf(cloud, String(sandboxId)), 'api/log.txt'), 'utf8').split(
    '\n',
  )) {
    lines.add(line);
  }
  expect(writer.words.filter((word) => !lines.has(word))).toEqual([]);
  expect(writer.words.length).toBeGreaterThan(10);
});
