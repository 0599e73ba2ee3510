/** The use case of the machine's state `Advance`: moves a saga, and renders what the machine does next. */
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { AdvanceDependencies } from '../ports.ts';
import type { EngineState } from './engine-protocol.ts';
import { afterEnd, driveChildren } from './family.ts';
import { createHandBack } from './hand-back.ts';
import { move } from './move.ts';
import { createDriver } from './prepare-next.ts';
import { render } from './render.ts';

/**
 * Whether this execution, or somebody else, has handed over to the next one, which may not have been started:
 * the service refused the start, and the machine calls again. Starting it twice has no effect.
 */
const isHandedOver = ({ state }: SagaHead, generation: number): boolean =>
  state.generation === generation + 1 &&
  state.inline === undefined &&
  state.phase !== 'done' &&
  state.status !== 'QUEUED';

/**
 * The function behind the state `Advance`. Answers `SUPERSEDED` to an execution that no longer drives the
 * saga.
 */
export const createAdvance = (dependencies: AdvanceDependencies) => {
  const handBack = createHandBack(dependencies);
  const driver = createDriver(dependencies.evaluate);
  return async (
    sagaId: string,
    generation: number,
    event: SagaEvent,
    executionArn: string,
  ): Promise<EngineState> => {
    const mine = (head: SagaHead) => (head.state.generation === generation ? event : undefined);
    const moved = await move({ ...dependencies, driver }, sagaId, mine, 'engine');
    const common = { sagaId, generation };
    if (moved.next.next === 'continued' || isHandedOver(moved.head, generation)) {
      await dependencies.engine.start(sagaId, moved.head.state.generation);
      return { ...common, action: 'END', status: 'CONTINUED' };
    }
    if (moved.head.state.generation !== generation || moved.next.next === 'none') {
      return { ...common, action: 'END', status: 'SUPERSEDED' };
    }
    await handBack(moved.head, moved.entries);
    if (moved.next.next === 'await') await driveChildren(dependencies, moved.head);
    if (moved.next.next === 'end' || moved.next.next === 'escalate') {
      if (await afterEnd(dependencies, moved.head)) return { ...common, action: 'END', status: 'CONTINUED' };
    }
    if (moved.next.next === 'escalate') {
      const { alert } = moved.head.state;
      if (event.type === 'alert' || alert?.status === 'delivered') {
        return { ...common, action: alert?.status === 'delivered' ? 'ALERTED' : 'UNALERTED' };
      }
    }
    return render(dependencies, moved.head, moved.entries, moved.next, common, executionArn);
  };
};
