/** A saga with one tool, begun in a store; no machine runs it. */
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { SagaEngine, SagaStore } from '../../core/saga/ports.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { scriptedTool } from './scripted-saga.ts';

export const engine: SagaEngine = {
  start: async () => 'started',
  look: async () => 'running',
  wake: async () => true,
};
export const evaluate = createEvaluator();

export const tool = scriptedTool('pay', 'compensatable');

export const startedHead = async (store: SagaStore, sagaId: string) => {
  await store.putTool(tool);
  const plan = { steps: [{ id: 's', tool: 'pay', arguments: {} }] };
  const start = createStartSaga({ store, engine, clock: virtualClock(), evaluate });
  await start({ sagaId, plan, input: {}, requestedBy: 'me' });
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new Error('no head');
  return head;
};
