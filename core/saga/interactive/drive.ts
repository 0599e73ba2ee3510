/**
 * Drives a saga inside a function: one call of each step, with the same reducer and ledger as the machine.
 * Whoever wrote the start of a call makes the call. When one call does not settle a step, or something waits
 * or would take too long, the machine takes over. The sweeper finds the saga of a driver that died.
 */
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { BUSY, retryingErrors } from '../../shared/retry.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import { ENGINE_SLACK_SECONDS } from '../model/timing.ts';
import type { AdvanceDependencies, CheckEpoch, ProjectOf, ToolInvoker } from '../ports.ts';
import { outcomeOf } from '../run/engine-protocol.ts';
import { createHandBack } from '../run/hand-back.ts';
import { type Inline, type Move, move } from '../run/move.ts';
import { createDriver } from '../run/prepare-next.ts';
import { requestFor } from '../run/render.ts';
import { type DrivenSaga, tellMachine } from '../run/tell-machine.ts';

export interface DriveDependencies extends Omit<AdvanceDependencies, 'executionLink'> {
  tools: ToolInvoker;
  checkEpoch?: CheckEpoch;
  projectOf?: ProjectOf;
}

const isPassing = (error: unknown): boolean => isWalkbackError(error) && error.retryable;

/**
 * Continues from a move of this function until nothing is in flight, or the machine was started. Answers
 * warnings: a machine that could not be started does not make what was recorded undone.
 */
export const drive = async (
  dependencies: DriveDependencies,
  from: Move,
  inline: Inline,
): Promise<string[]> => {
  const { clock, engine, tools } = dependencies;
  const { sagaId } = from.head;
  const { generation } = from.head.state;
  const entries = [...from.entries];
  let moved = from;
  while (moved.entries.length > 0 && moved.next.next === 'invoke') {
    const { operation, deadlineMs } = moved.next;
    const { functionName, payload } = await requestFor(
      dependencies,
      moved.head,
      moved.entries,
      operation,
      deadlineMs,
    );
    const timeoutMs = deadlineMs - clock.now().getTime() + ENGINE_SLACK_SECONDS * 1000;
    const outcome = outcomeOf(await tools.invoke(functionName, payload, timeoutMs));
    // Another generation: somebody took this driver for dead, and settles the call as one whose answer was
    // lost.
    const record = () =>
      move(
        { ...dependencies, inline, driver: createDriver(dependencies.evaluate) },
        sagaId,
        (head) =>
          head.state.generation === generation ? { type: 'outcome', operation, outcome } : undefined,
        'engine',
      );
    // Only this function knows the answer. If it is not recorded, the call is in doubt and must be made
    // again.
    moved = await retryingErrors(BUSY, clock, isPassing, record);
    entries.push(...moved.entries);
  }
  const tell = (act: () => Promise<unknown>) => tellMachine(dependencies, sagaId, act);
  const started =
    moved.next.next === 'continued'
      ? await tell(() => engine.start(sagaId, moved.head.state.generation))
      : [];
  return [...started, ...(await tell(() => createHandBack(dependencies)(moved.head, entries)))];
};

/** Time kept back for the last write and the answer. */
export const RESERVE_MS = 10_000;

/** Drives a saga with a plan from its beginning. If no function does, the sweeper gives it to the machine. */
export const createDriveInline =
  (dependencies: DriveDependencies) =>
  async (sagaId: string, { deadlineMs }: Invocation): Promise<DrivenSaga> => {
    const inline = { untilMs: deadlineMs - RESERVE_MS };
    const begin = ({ state }: SagaHead): SagaEvent | undefined =>
      state.generation === 1 && state.operation === null && state.phase === 'forward'
        ? { type: 'begin' }
        : undefined;
    const moved = await move(
      { ...dependencies, inline, driver: createDriver(dependencies.evaluate) },
      sagaId,
      begin,
      'engine',
    );
    const warnings = await drive(dependencies, moved, inline);
    return { status: (await dependencies.store.getHead(sagaId))?.state.status, warnings };
  };
