import type { Actor } from '../../../contract/identity.ts';
import type { SagaHead } from '../model/head.ts';
import { lookAtDriver } from './look-at-driver.ts';
import { type ReviveDependencies, revive } from './revive.ts';

/**
 * A command has no effect while nothing drives the saga. So the saga gets an execution now, however often
 * earlier ones died.
 */
export const ensureDriven = async (
  dependencies: ReviveDependencies,
  head: SagaHead,
  by: Actor,
): Promise<void> => {
  if (head.state.phase === 'done') return;
  const seen = await lookAtDriver(dependencies, head);
  if (seen !== 'running') await revive(dependencies, head, seen, by);
};
