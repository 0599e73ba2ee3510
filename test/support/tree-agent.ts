/** The agent that does steps of a tree: what it submits, and how it closes, is the input of its step. */
import type { Json, JsonObject } from '../../contract/json.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { PlanStep } from '../../core/saga/model/plan.ts';
import { parsePlan } from '../../core/saga/plan/catalog.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import type { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { Crash, type sagaMachine } from '../../kit/testing/saga-machine.ts';

type Work = { steps: { id: string; tool: string; arguments: JsonObject }[]; gives?: Json; givesUp?: boolean };

/** A step of a plan that the agent does. */
export const agentStep = (
  id: string,
  work: Work,
  more: { timeoutSeconds?: number; onIdle?: 'unwind' | 'ask' } = {},
): PlanStep => {
  const { onIdle = 'unwind', ...rest } = more;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is JSON, which an interface does not say
  return { id, interactive: { onIdle }, input: work as unknown as Json, ...rest };
};

/** The step `work` of a plan, which an agent does, as the catalog reads it. */
export const parsedAgentStep = (policy: JsonObject = {}, more: JsonObject = {}): PlanStep =>
  parsePlan({ steps: [{ id: 'work', interactive: { onIdle: 'unwind', ...policy }, ...more }] })
    .steps[0] as PlanStep;

interface Stage {
  machine: Pick<ReturnType<typeof sagaMachine>, 'submit' | 'close'>;
  memory: ReturnType<typeof memorySagaStore>;
}

/** Whoever is refused looks again later. */
const OVER = ['SagaClosed', 'SagaUnwinding', 'StepInProgress', 'SagaParked'];

/** For one call of a tool, and its margin. */
const LONG_ENOUGH = 20;

/** What is done with one saga: the next steps, and the end. Answers whether anything came of it. */
const workOn = async ({ machine, memory }: Stage, { sagaId, inputHash }: SagaHead): Promise<boolean> => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- agentStep made it
  const work = (await memory.store.getPinnedInput(sagaId, inputHash)) as unknown as Work;
  const before = memory.heads.get(sagaId)?.version;
  const hasMoved = () => memory.heads.get(sagaId)?.version !== before;
  for (const [at, { id: stepId, tool, arguments: given }] of work.steps.entries()) {
    const { step } = await machine.submit({
      sagaId,
      stepId,
      tool,
      arguments: given,
      // Every other step is called by the machine, since the agent does not wait for it.
      waitSeconds: at % 2 === 0 ? LONG_ENOUGH : 0,
      observe: false,
    });
    if (step.status === 'committed') continue;
    if (step.status === 'running' || step.status === 'awaiting') return hasMoved();
    await machine.close({ sagaId, outcome: 'unwind', reason: `${stepId} is ${step.status}` });
    return hasMoved();
  }
  if (work.givesUp === true) await machine.close({ sagaId, outcome: 'unwind' });
  else await machine.close({ sagaId, outcome: 'complete', result: work.gives ?? null });
  return hasMoved();
};

const isOurs = ({ parent, state }: SagaHead): boolean =>
  parent !== undefined &&
  state.interactive !== undefined &&
  !state.cancelRequested &&
  (state.phase === 'forward' || state.undoFrom !== undefined);

/** Works on all sagas that wait for it. When it dies, it is called again. */
export const agentsTurn = async (stage: Stage): Promise<boolean> => {
  let acted = false;
  for (const head of [...stage.memory.heads.values()].filter(isOurs)) {
    try {
      if (await workOn(stage, head)) acted = true;
    } catch (error) {
      if (error instanceof Crash) acted = true;
      else if (!isWalkbackError(error) || !OVER.includes(error.name)) throw error;
    }
  }
  return acted;
};
