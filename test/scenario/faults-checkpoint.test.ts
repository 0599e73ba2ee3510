/**
 * Every service fails at every call of a checkpoint that keeps what was said and what changed; the same call again finishes it, once. A
 * sample, others each time; most of them in `npm run test:long`.
 */
import { expect, test } from 'vitest';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import { startTestCloud } from '../support/cloud.ts';
import { describeCase, failAndRepeat, faultCases, openFaultLine } from '../support/fault-matrix.ts';
import { shared } from '../support/shared.ts';
import { expire, storedKeys } from '../support/stored-objects.ts';
import { edit, fingerprint, openWorld, type Recorded, rootOf } from '../support/world.ts';

const cloud = shared(startTestCloud);
const line = shared(() => openFaultLine(cloud()));
const world = shared(() => openWorld(cloud(), { paths: ['api', 'web'] }));

/** Longer than what stays in the checkpoint's own item. */
const saidOf = (tool: string) => ({
  message: { role: 'user', title: `title of ${tool}`, text: `text of ${tool} `.repeat(100) },
  tool: { name: 'Bash', input: { command: `input of ${tool} `.repeat(100) } },
});

/** What people read of a checkpoint is whole, or says what it lacks. Answers whether it is whole. */
const expectTold = async (tool: string, checkpointId: string, name: string): Promise<boolean> => {
  const asked = { sessionId: 's1', checkpointId };
  const { checkpoints } = (await cloud().invoke('changes', asked)) as unknown as ChangesAnswer;
  const [told] = checkpoints;
  const { message, tool: called } = saidOf(tool);
  expect(told?.message?.title, name).toBe(message.title);
  const notes = [...(told?.warnings ?? []), ...(told?.repositories ?? []).flatMap(({ note }) => note ?? [])];
  if (notes.length === 0) {
    expect(told, name).toMatchObject({
      message: { text: message.text, truncated: false },
      tool: { name: 'Bash', input: JSON.stringify(called.input), truncated: false },
    });
    expect(told?.repositories.length, name).toBeGreaterThan(0);
    for (const { change, counts, patch, host, truncated } of told?.repositories ?? []) {
      expect([change, truncated], name).toEqual(['changed', false]);
      expect(counts?.files === 0 ? host : patch, name).toBeTruthy();
    }
  }
  return notes.length === 0;
};

test('whatever fails at whatever call of a checkpoint, the same call again makes exactly one', async () => {
  edit(world().root, 1, world().paths);
  const counts = await line().count(() => world().checkpoint('clean', 'clean', saidOf('clean')));
  const recorded = new Map<string, Recorded>();
  let [metCount, wholeCount] = [0, 0];
  for (const [index, fault] of faultCases('checkpoint', counts, {
    every: 20,
    whole: 2,
    minimum: 2,
  }).entries()) {
    const name = describeCase(fault);
    const tool = `t${index}`;
    edit(world().root, index + 2, world().paths);
    const looks = world().fingerprint();
    const { met, answer: second } = await failAndRepeat(line(), fault, () =>
      world().checkpoint(tool, tool, saidOf(tool)),
    );
    if (met) metCount += 1;
    if (await expectTold(tool, second.checkpointId, name)) wholeCount += 1;
    expect(second.looks, name).toEqual(looks);
    recorded.set(tool, second);
  }
  expect(metCount).toBeGreaterThanOrEqual(recorded.size / 2);
  // Only what is stored of it may be lacking, and only where the store failed.
  expect(wholeCount).toBeGreaterThanOrEqual(recorded.size / 2);
  const { checkpoints, session } = await world().timeline();
  const taken = checkpoints.filter(({ toolExecutionId }) => recorded.has(toolExecutionId));
  expect(taken.map(({ toolExecutionId }) => toolExecutionId).toReversed()).toEqual([...recorded.keys()]);
  expect(taken.every(({ complete, onHeadPath }) => complete && onHeadPath)).toBe(true);
  expect(session).toMatchObject({ epoch: 1, busy: null });

  // Every link is in the bucket: a copy is made from what the store alone holds, and visits some more of them.
  const copy = await cloud().invoke('rehydrate', { sessionId: 's1' });
  const sandboxId = String(copy['sandboxId']);
  const look = () => fingerprint(rootOf(cloud(), sandboxId), world().paths);
  expect(look()).toEqual([...recorded.values()].at(-1)?.looks);
  for (const [tool, { checkpointId, looks }] of [...recorded].filter((_, index) => index % 3 === 0)) {
    await cloud().invoke('rollback', {
      sessionId: 's1',
      checkpointId,
      sandboxId,
      requestId: `visit-${tool}`,
    });
    expect(look(), tool).toEqual(looks);
  }

  // Nothing that a failed call stored stays for ever.
  expect(await storedKeys(cloud())).not.toEqual([]);
  await cloud().invoke('end-session', { sessionId: 's1' });
  await expire(cloud(), 4 * 365);
  expect(await storedKeys(cloud())).toEqual([]);
}, 900_000);
