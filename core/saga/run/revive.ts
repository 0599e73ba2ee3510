/**
 * Restarts a saga whose execution is gone (S11). Doing it twice at once is harmless, because only one of
 * the two is recorded (S9).
 */
import type { Actor } from '../../../contract/identity.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaEngine, SagaStore } from '../ports.ts';
import { isUnalerted } from './alert-again.ts';
import { move } from './move.ts';

export interface ReviveDependencies {
  store: SagaStore;
  engine: SagaEngine;
  clock: Clock;
}

/** `seen`: the state in which its execution was found. Answers whether an execution was started. */
export const revive = async (
  dependencies: ReviveDependencies,
  { sagaId, state }: SagaHead,
  seen: 'ended' | 'missing',
  actor: Actor,
): Promise<boolean> => {
  const { engine } = dependencies;
  if (seen === 'missing') {
    await engine.start(sagaId, state.generation);
    return true;
  }
  const same = (now: SagaHead) =>
    now.state.generation === state.generation && (now.state.phase !== 'done' || isUnalerted(now))
      ? { type: 'resume' as const, reason: 'its execution ended' }
      : undefined;
  const moved = await move(dependencies, sagaId, same, actor);
  if (moved.entries.length === 0) return false;
  await engine.start(sagaId, moved.head.state.generation);
  return true;
};
