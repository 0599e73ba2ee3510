/** A call that its host gave up before it began (its caller's abort, a timeout of its own) does not begin. */
import { fakeModel } from '@langchain/core/testing';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { AIMessage, createAgent, createMiddleware, tool as langchainTool } from 'langchain';
import { expect, test } from 'vitest';
import { type Run, sagaTools } from '../../client/index.ts';
import { checkpointed } from '../../client/integrations/ai-sdk.ts';
import { checkpointed as checkpointedCalls } from '../../client/integrations/langchain.ts';
import type { Invoke } from '../../client/invoke.ts';
import { createRun } from '../../client/run.ts';
import type { Saga } from '../../client/saga.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { scriptedModel } from '../support/hosts/ai-sdk.ts';
import { edit } from '../support/integration-conformance.ts';

/** A run of which each checkpoint is when the caller gives up. */
const runOf = (caller: AbortController): Run => {
  const answer = async (): Promise<object> => {
    caller.abort(new Error('enough'));
    return { messageId: 'm', seq: 2, epoch: 1 };
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a run reads of the answer
  const invoke = answer as unknown as Invoke;
  const place = { epoch: 1, seq: 1 };
  const rest = { signal: undefined, onCheckpointError: 'block', redact: false } as const;
  return createRun({ invoke, sessionId: 's', place, onWarning: () => undefined, ...rest }, {});
};

/** What runs the tool `edit` once, with a signal that only the host has. */
type Play = (run: Run, execute: () => Promise<string>, signal: AbortSignal) => Promise<unknown>;

const PLAYS: Record<string, Play> = {
  'the AI SDK': (run, execute, abortSignal) =>
    generateText({
      model: scriptedModel([[edit('call-1')]]),
      tools: checkpointed({ edit: tool({ inputSchema: jsonSchema({ type: 'object' }), execute }) }, run),
      prompt: 'edit',
      stopWhen: isStepCount(3),
      abortSignal,
    }),
  'a generator of the AI SDK': (run, execute, abortSignal) =>
    generateText({
      model: scriptedModel([[edit('call-1')]]),
      tools: checkpointed(
        {
          edit: tool({
            inputSchema: jsonSchema({ type: 'object' }),
            execute: async function* () {
              yield await execute();
            },
          }),
        },
        run,
      ),
      prompt: 'edit',
      stopWhen: isStepCount(3),
      abortSignal,
    }),
  LangChain: (run, execute, signal) => {
    const schema = { type: 'object', properties: {} } as const;
    const model = fakeModel().respondWithTools([{ name: 'edit', args: {}, id: 'call-1' }]);
    return createAgent({
      model: model.respond(new AIMessage('done')),
      tools: [langchainTool(execute, { name: 'edit', description: 'edits', schema })],
      middleware: [createMiddleware({ name: 'walkback', wrapToolCall: checkpointedCalls(run) })],
    }).invoke({ messages: ['edit'] }, { signal });
  },
  'a loop of its own': (run, execute, signal) => run.guard({ id: 'call-1', name: 'edit', signal }, execute),
};

test.each(Object.entries(PLAYS))('%s: while its checkpoint was taken', async (_name, play) => {
  const caller = new AbortController();
  let ran = 0;
  const execute = async (): Promise<string> => String((ran += 1));
  await play(runOf(caller), execute, caller.signal).catch(() => undefined);
  expect([caller.signal.aborted, ran]).toEqual([true, 0]);
});

test.each([true, false])(
  'given up before anybody asked: no checkpoint, no tool (a read: %s)',
  async (readOnly) => {
    const asked: string[] = [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is never answered
    const invoke = (async (name: string) => asked.push(name)) as unknown as Invoke;
    const rest = { signal: undefined, onCheckpointError: 'block', redact: false } as const;
    const place = { epoch: 1, seq: 1 };
    const run = createRun({ invoke, sessionId: 's', place, onWarning: () => undefined, ...rest }, {});
    const call = { id: 'call-1', name: 'look', readOnly, signal: AbortSignal.abort(new Error('enough')) };
    await expect(run.guard(call, () => asked.push('the tool'))).rejects.toThrow('enough');
    expect(asked).toEqual([]);
  },
);

const sagaOf = (submit: (step: { stepId?: string }) => Promise<object>): Saga =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the tools use of it
  ({ submit }) as unknown as Saga;

test('a step of a saga that waited for others is not submitted', async () => {
  const caller = new AbortController();
  const submitted: unknown[] = [];
  const saga = sagaOf(async ({ stepId }) => {
    submitted.push(stepId);
    caller.abort(new Error('enough'));
    return { step: { status: 'committed', result: { rooms: 1 } } };
  });
  const book = sagaTools([bookRoom(openHotel())], saga)['book_room'];
  const ended = await Promise.allSettled(
    ['call-1', 'call-2'].map(async (toolCallId) =>
      book?.execute({ nights: 1 }, { toolCallId, abortSignal: caller.signal }),
    ),
  );
  expect(submitted).toEqual(['call-1']);
  expect(ended).toMatchObject([{ value: { rooms: 1 } }, { reason: { message: 'enough' } }]);
});

test('nobody waits for an approval any more', async () => {
  const caller = new AbortController();
  const saga = sagaOf(async () => {
    caller.abort(new Error('enough'));
    return { step: { status: 'awaiting' } };
  });
  const book = sagaTools([bookRoom(openHotel())], saga)['book_room'];
  const options = { toolCallId: 'call-1', abortSignal: caller.signal };
  await expect(book?.execute({ nights: 1 }, options)).rejects.toMatchObject({ name: 'ApprovalPending' });
});
