/** A session with files and sagas, both in memory, that is rewound: files and effects over the real core. */
import type { Asked } from '../../contract/identity.ts';
import type { RewindAnswer, SessionRewind } from '../../contract/rewind.ts';
import type { SubmitStepInput } from '../../contract/saga-inputs.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { createCheckEpoch } from '../../core/checkpoint/session/check-epoch.ts';
import { createRewindSession } from '../../core/rewind/rewind-session.ts';
import type { Invoked } from '../../core/saga/ports.ts';
import { type Counter, createCounter } from './fakes/faults.ts';
import { createWorkingStage, SANDBOX, SESSION } from './fakes/stage.ts';
import { committed, scriptedSaga, scriptedTool } from './scripted-saga.ts';

/** Of m1: `before`. Of m2: `done`, which completes, and `asks`, which waits for a person. */
const SAGAS = {
  before: { messageId: 'm1', steps: ['pay'] },
  done: { messageId: 'm2', steps: ['pay', 'book'] },
  asks: { messageId: 'm2', steps: ['book', 'ask'] },
} as const;

const AFTER = ['done', 'asks'] as const;

export const rewindStage = async (
  options: {
    mailed?: true;
    live?: true;
    answer?: (request: ToolRequest) => Invoked | Promise<Invoked>;
    /** Happens while the sandbox is asked what would go back. */
    whilePlanning?: () => Promise<void>;
  } = {},
) => {
  const stage = await createWorkingStage();
  const sagas = await scriptedSaga({
    tools: [
      scriptedTool('pay', 'compensatable'),
      scriptedTool('book', 'partial'),
      scriptedTool('mail', 'irreversible'),
    ],
    answer: (request) => options.answer?.(request) ?? committed(),
    inEpoch: ({ epoch }) => stage.session().epoch === epoch,
    checkEpoch: createCheckEpoch(stage.instance().deps.store),
    onAwait: async ({ sagaId }) => {
      // A caller that died before it told the saga asks again.
      await (reached[sagaId] ?? rewind)();
      return true;
    },
  });
  const reached: Record<string, () => Promise<unknown>> = {};
  const { machine, store } = sagas;
  const start = (sagaId: string, messageId: string, steps: readonly string[]) =>
    machine.start({
      sagaId,
      sessionId: SESSION,
      messageId,
      plan: {
        steps: steps.map((id) =>
          id === 'ask'
            ? { id, tool: 'pay', arguments: {}, approval: { timeoutSeconds: 3600 } }
            : { id, tool: id, arguments: {} },
        ),
      },
      input: {},
      requestedBy: 'me',
    });
  const { asks, ...completed } = SAGAS;
  for (const [sagaId, { messageId, steps }] of Object.entries(completed))
    await start(sagaId, messageId, steps);
  if (options.mailed === true) await start('mailed', 'm2', ['pay', 'mail']);
  await machine.settle();
  const submit = (stepId: string, messageId: string, more: Partial<SubmitStepInput> = {}) =>
    machine.submit({
      sagaId: 'live',
      stepId,
      tool: 'pay',
      arguments: {},
      sessionId: SESSION,
      messageId,
      ...more,
    });
  if (options.live === true) {
    await machine.start({
      sagaId: 'live',
      sessionId: SESSION,
      messageId: 'm1',
      interactive: { onIdle: 'unwind', allowIrreversible: ['mail'] },
      requestedBy: 'me',
    });
    await submit('first', 'm1');
    await submit('second', 'm2');
    await submit('third', 'm2');
  }
  // It waits for a person when the rewind comes, in the midst of its execution.
  let first: RewindAnswer | Error | undefined;
  const askFirst = async (ask: () => Promise<RewindAnswer>): Promise<RewindAnswer> => {
    reached['asks'] = async () => {
      delete reached['asks'];
      first = await ask().catch((error: Error) => error);
    };
    await start('asks', asks.messageId, asks.steps);
    await machine.settle();
    if (first === undefined) throw new Error('the saga never waited');
    if (first instanceof Error) throw first;
    return first;
  };

  const rewind = (more: Partial<Asked<SessionRewind>> = {}, counter: Counter = createCounter()) => {
    const { deps } = stage.instance(counter);
    const { rollback } = stage.instance(counter);
    const session = createRewindSession({
      store: counter.wrap('sagas', store),
      engine: counter.wrap('engine', machine.engine),
      clock: sagas.clock,
      sessions: deps.store,
      rollback: async (input) => {
        if (input.dryRun === true) await options.whilePlanning?.();
        return rollback(input);
      },
    });
    const request: Asked<SessionRewind> = {
      sessionId: SESSION,
      to: { messageId: 'm1' },
      requestId: 'rw',
      guidance: 'Leave the web alone.',
      by: 'rita',
      ...more,
    };
    return session(request, { deadlineMs: stage.clock.now().getTime() + 900_000 });
  };

  /** Repeats the request, with the machine at work in between, until it is through or stopped. */
  const carryOut = async (more: Partial<Asked<SessionRewind>> = {}): Promise<RewindAnswer> => {
    for (let call = 0; call < 20; call += 1) {
      const answer = await rewind(more);
      if (answer.status !== 'UNDOING') return answer;
      await machine.settle();
    }
    throw new Error('the rewind is never through');
  };

  const statuses = async () => {
    const live = options.live === true ? ['live'] : [];
    const heads = await Promise.all(['before', ...AFTER, ...live].map((sagaId) => store.getHead(sagaId)));
    return heads.flatMap((head) => (head === undefined ? [] : [`${head.sagaId} ${head.state.status}`]));
  };
  return {
    stage,
    sagas,
    machine,
    start,
    submit,
    askFirst,
    rewind,
    carryOut,
    statuses,
    files: () => stage.world.filesOf(SANDBOX),
    /** The calls that took something back. */
    undone: () =>
      sagas.requests
        .filter(({ operation }) => operation === 'compensate')
        .map(({ idempotencyKey }) => idempotencyKey),
  };
};

export const UNDONE = ['before COMPLETED', 'done COMPENSATED', 'asks COMPENSATED'];
