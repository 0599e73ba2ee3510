/**
 * Random work of turns, also of those that are cut, of merges, and of nobody, among checkpoints and rollbacks: a revert of a
 * message takes back the work of that message, and no other, and an undo brings it back. Each piece of work is a file, so that whose it is can be told.
 * Turns are taken by the client, by a backend of one's own as in docs/functions.md, and by the tool that runs a command in a workspace.
 */
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { Walkback } from '../../client/index.ts';
import type * as Sample from '../../examples/backend/checkpoint.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { mergeStage, PATHS } from '../support/merge-stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { shell } from '../support/world.ts';

const test = inTurn('properties-reverts');

const SEED = printedSeed('properties of reverts');
const [RUNS, STEPS] = WHOLE ? [8, 12] : [1, 8];

const place = fc.constantFrom(...PATHS);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      of: fc.array(place, { minLength: 1, maxLength: 2 }),
      by: fc.constantFrom('client' as const, 'cut client' as const, 'backend' as const, 'tool' as const),
    }),
  },
  // One that only reads.
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      of: fc.constant([]),
      by: fc.constant('client' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('loose' as const), of: place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge' as const), of: place }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('revert' as const), message: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollback' as const), to: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const session = fc.record({
  isFresh: fc.boolean(),
  steps: fc.array(step, { minLength: STEPS, maxLength: STEPS }),
});

/** What is there, and whose it is: a message, or nobody (null). */
interface Expected {
  files: Map<string, string | null>;
  /** Whose is what is done without a tool from here on. */
  current: string | null;
  /** Those on the way to here. */
  messages: readonly string[];
}

const copyOf = (one: Expected): Expected => ({ ...one, files: new Map(one.files) });

let cloud: TestCloud;
let sample: typeof Sample;
beforeAll(async () => {
  cloud = await startTestCloud();
  for (const [name, value] of Object.entries(cloud.environment)) vi.stubEnv(name, value);
  sample = await import('../../examples/backend/checkpoint.ts');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await cloud.close();
});

const runStep = async (sagaId: string, given: Record<string, unknown>): Promise<void> => {
  const plan = { steps: [{ id: 'work', tool: 'run_in_workspace', arguments: given }] };
  await cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'me' });
  expect(await cloud.invoke('describe-saga', { sagaId, waitSeconds: 120 })).toMatchObject({
    status: 'COMPLETED',
  });
};

const play = async (
  stage: ReturnType<typeof mergeStage>,
  walkback: Walkback,
  { isFresh, steps }: { isFresh: boolean; steps: readonly Step[] },
) => {
  const world = await stage.open();
  const { sessionId } = world;
  if (!isFresh) await world.checkpoint('t0', 'm-0');
  const session = await walkback.sessions.get(sessionId);
  // Before any message, work is nobody's.
  let expected: Expected = { files: new Map(), current: isFresh ? null : 'm-0', messages: [] };
  let before: Expected | undefined;
  const points: { checkpointId: string; expected: Expected }[] = [];
  const told: string[] = [];
  const write = (root: string, path: string): void => {
    shell(root, `echo ${path} > ${path}`);
  };
  const check = (): void => {
    const found = shell(
      world.root,
      `ls -d ${PATHS.map((path) => `${path}/work-*`).join(' ')} 2>/dev/null || :`,
    );
    expect(found.split('\n').filter(Boolean), told.join('\n')).toEqual([...expected.files.keys()].toSorted());
  };
  const play1 = async (one: Step, index: number): Promise<void> => {
    const name = (path: string, part = 0): string => `${path}/work-${index}-${part}`;
    if (one.kind === 'turn') {
      const id = `m-${index + 1}`;
      await session.refresh();
      const run = session.run({ message: { id } });
      for (const [part, path] of one.of.entries()) {
        const [callId, file] = [`call-${index}-${part}`, name(path, part)];
        if (one.by === 'backend') {
          const before = { sessionId, epoch: run.epoch, forMessageId: id, toolExecutionId: callId };
          await sample.withCheckpoint(before, async () => write(world.root, file));
        } else if (one.by === 'tool') {
          const given = { sessionId, messageId: id, command: `echo ${file} > ${file}` };
          await runStep(`${sessionId}-${callId}`, given);
        } else {
          const call = { id: callId, name: 'Edit', input: { file_path: file } };
          await run.guard(call, () => write(world.root, file));
        }
        expected.files.set(file, id);
      }
      if (one.by === 'client') await run.finish();
      expected = { ...expected, current: id, messages: [...expected.messages, id] };
    } else if (one.kind === 'loose') {
      write(world.root, name(one.of));
      expected.files.set(name(one.of), expected.current);
    } else if (one.kind === 'merge') {
      const fork = await stage.forkOf(world, `fork-${index}`);
      // A fork begins at the last checkpoint: what was done since is not in it.
      write(fork.root, name(one.of));
      await fork.checkpoint(`f-${index}`);
      await stage.merge(fork, world, `merge-${index}`);
      expected.files.set(name(one.of), null);
      expected.current = null;
    } else if (one.kind === 'revert') {
      const id = expected.messages[one.message % expected.messages.length];
      if (id === undefined) return;
      await session.refresh();
      before = copyOf(expected);
      told.push(`  reverts ${id}`);
      const answer = await session.revert({ messageId: id, requestId: `revert-${world.sessionId}-${index}` });
      expect(answer.status).toBe('APPLIED');
      const kept = [...expected.files].filter(([, owner]) => owner !== id);
      expected = { ...expected, files: new Map(kept), current: null };
      return;
    } else if (one.kind === 'checkpoint') {
      await session.refresh();
      const { checkpointId } = await session.checkpoint();
      points.push({ checkpointId, expected: copyOf(expected) });
    } else if (one.kind === 'rollback') {
      const point = points[one.to % points.length];
      if (point === undefined) return;
      await session.refresh();
      before = copyOf(expected);
      await session.rollback({ to: { checkpointId: point.checkpointId } });
      expected = copyOf(point.expected);
      return;
    } else if (before !== undefined) {
      await session.undo();
      expected = copyOf(before);
    }
    // Only what is done last is taken back here.
    before = undefined;
  };
  for (const [index, one] of steps.entries()) {
    told.push(`${index}: ${JSON.stringify(one)}`);
    await play1(one, index);
    check();
  }
};

test('a revert takes back the work of its message and no other, whatever was done between', async () => {
  const stage = mergeStage(cloud);
  const walkback = new Walkback({ dataDir: cloud.dataDir });
  try {
    await fc.assert(
      fc.asyncProperty(session, (given) => play(stage, walkback, given)),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
  } finally {
    await walkback.close();
  }
});
