/**
 * Lambda that has no place for a function: the real machine definition on the local engine, with the functions behind it. The
 * work ends, nothing is done twice, and no attempt of a tool is used up.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import { advanceInput } from '../../contract/internal-inputs.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { executionName } from '../../core/saga/model/keys.ts';
import type { SagaEngine } from '../../core/saga/ports.ts';
import { createAdvance } from '../../core/saga/run/advance.ts';
import { eventOf } from '../../core/saga/run/engine-protocol.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { createExecutions } from '../../local/stepfunctions/executions.ts';
import { PROJECT } from '../../local/template.ts';
import { committed, scriptedTool } from '../support/scripted-saga.ts';

const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:m';
const SAGA = 'crowded';
const evaluate = createEvaluator();

/** As deployed, but for the pauses between retries. */
const definitionWithoutPauses = async (): Promise<string> => {
  const text = await readFile(join(PROJECT, 'statemachines/saga.asl.json'), 'utf8');
  return text.replaceAll(/"IntervalSeconds": \d+/g, '"IntervalSeconds": 0');
};

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0)) await close();
});

/**
 * Two steps whose tools have one attempt each. `refuses` says of each call of a function whether Lambda refuses it, and
 * `refusesStart` the same of each execution.
 */
const run = async (
  refuses: (functionName: string, begun: number, refused: number) => boolean,
  {
    refusesStart = () => false,
    maxHistoryEvents,
  }: { refusesStart?: (generation: number, refused: number) => boolean; maxHistoryEvents?: number } = {},
) => {
  const { store } = memorySagaStore();
  const clock = { now: () => new Date(), sleep: async () => undefined };
  const once = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };
  for (const name of ['a', 'b']) await store.putTool(scriptedTool(name, 'compensatable', { retry: once }));
  const requests: ToolRequest[] = [];
  const begun = { advance: 0, fn: 0 };
  const refused = { advance: 0, fn: 0, start: 0 };
  const started: string[] = [];
  const ended = Promise.withResolvers<string>();

  const act = async (name: 'advance' | 'fn', payload: unknown): Promise<unknown> => {
    if (name === 'advance') {
      const { state, executionArn } = advanceInput().parse(payload);
      return advance(state.sagaId, state.generation, eventOf(state), executionArn);
    }
    requests.push(payload as ToolRequest);
    const answer = committed();
    return 'Payload' in answer ? answer.Payload : undefined;
  };
  const executions = await createExecutions({
    machines: [
      {
        stateMachineArn: MACHINE,
        definition: await definitionWithoutPauses(),
        substitutions: {
          Partition: 'aws',
          AdvanceSagaFunction: 'advance',
          AnnounceAwaitFunction: 'announce',
          AlertTopic: 'topic',
        },
      },
    ],
    services: {
      invoke: async (functionName, payload, begins) => {
        const name = functionName === 'advance' ? 'advance' : 'fn';
        if (refuses(name, begun[name], refused[name])) {
          refused[name] += 1;
          throw Object.assign(new Error('Rate Exceeded.'), {
            name: 'TooManyRequestsException',
            $metadata: { httpStatusCode: 429 },
          });
        }
        begun[name] += 1;
        begins?.();
        return { payload: JSON.parse(JSON.stringify(await act(name, payload))), functionError: false };
      },
      publish: async () => ({ messageId: 'm' }),
    },
    onEnd: ({ status, output }) => {
      if (!String(output).includes('CONTINUED')) ended.resolve(status);
    },
  });
  cleanup.push(() => executions.close());
  const engine: SagaEngine = {
    start: async (sagaId, generation) => {
      if (refusesStart(generation, refused.start)) {
        refused.start += 1;
        throw new WalkbackError('Throttled', 'Step Functions is busy. Call again.', { retryable: true });
      }
      const name = executionName(sagaId, generation);
      const answer = executions.start(MACHINE, name, JSON.stringify({ sagaId, generation }));
      if (answer === 'exists') return 'exists';
      started.push(name);
      return 'started';
    },
    look: async () => 'running',
    wake: async () => true,
  };
  const advance = createAdvance({
    store,
    engine,
    clock,
    evaluate,
    executionLink: (arn) => arn,
    ...(maxHistoryEvents !== undefined && { maxHistoryEvents }),
  });
  const steps = ['a', 'b'].map((id) => ({ id, tool: id, arguments: {} }));
  await createStartSaga({ store, engine, clock, evaluate })({
    sagaId: SAGA,
    plan: { steps },
    input: {},
    requestedBy: 'me',
  });
  const status = await ended.promise;
  const [head, entries] = [await store.getHead(SAGA), await store.listEntries(SAGA)];
  if (head === undefined) throw new Error('the saga is gone');
  expect(findChainBreak(entries, head)).toBeUndefined();
  const story = entries.map(({ direction, status: what }) => `${direction} ${what}`);
  return { status, head, story, requests, refused, started };
};

test('advance-saga is crowded out when a tool has acted: its answer is kept, and it is called once', async () => {
  // 15 times in a row, each time that something is to be recorded: more than a minute or two on AWS.
  let inARow = 0;
  const { status, head, story, requests, refused } = await run((name, begun) => {
    if (name !== 'advance' || begun === 0) return false;
    inARow = inARow === 15 ? 0 : inARow + 1;
    return inARow > 0;
  });
  expect(status).toBe('SUCCEEDED');
  expect(head.state).toMatchObject({ status: 'COMPLETED', generation: 1 });
  expect(requests.map(({ step, attempt }) => [step, attempt])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  expect(refused.advance).toBe(30);
  expect(story.filter((line) => line.startsWith('forward'))).toEqual([
    'forward started',
    'forward committed',
    'forward started',
    'forward committed',
  ]);
});

test('a tool that is crowded out has no attempt used up, and acts once', async () => {
  // Past what the machine tries by itself, so that the reducer is told, twice.
  const { status, head, story, requests, refused } = await run(
    (name, begun, times) => name === 'fn' && begun === 0 && times < 6,
  );
  expect(status).toBe('SUCCEEDED');
  expect(head.state.status).toBe('COMPLETED');
  expect(refused.fn).toBe(6);
  expect(story.filter((line) => line === 'forward rejected')).toHaveLength(2);
  expect(story.filter((line) => line === 'forward committed')).toHaveLength(2);
  expect(requests.map(({ step }) => step)).toEqual(['a', 'b']);
});

test('the execution that is to go on is refused: the machine starts it, without anybody who looks for lost sagas', async () => {
  const { status, head, story, requests, refused, started } = await run(() => false, {
    maxHistoryEvents: 10,
    refusesStart: (generation, times) => generation > 1 && times % 4 !== 3,
  });
  expect(status).toBe('SUCCEEDED');
  expect(refused.start).toBeGreaterThanOrEqual(3);
  expect(head.state.status).toBe('COMPLETED');
  expect(started).toEqual(
    Array.from({ length: head.state.generation }, (_, at) => executionName(SAGA, at + 1)),
  );
  expect(head.state.generation).toBeGreaterThan(1);
  expect(requests.map(({ step, attempt }) => [step, attempt])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  expect(story.filter((line) => line === 'saga resumed')).toHaveLength(head.state.generation - 1);
});
