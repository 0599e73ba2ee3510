import type { SagaEngine, SagaStore } from '../ports.ts';

/**
 * Wakes the waiting execution, if it has announced itself. An execution that announces itself later sees in
 * the ledger what happened.
 */
export const wake = async (
  { store, engine }: { store: SagaStore; engine: SagaEngine },
  sagaId: string,
): Promise<void> => {
  const waiting = await store.getToken(sagaId);
  if (waiting !== undefined) await engine.wake(waiting.token);
};
