import type { SagaEngine, SagaStore } from '../ports.ts';

/**
 * Wakes the waiting execution, if one has announced itself. One that comes later sees what happened in the ledger.
 */
export const wake = async (
  { store, engine }: { store: SagaStore; engine: SagaEngine },
  sagaId: string,
): Promise<void> => {
  const waiting = await store.getToken(sagaId);
  if (waiting !== undefined) await engine.wake(waiting.token);
};
