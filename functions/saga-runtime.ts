/** The part of the composition root that knows which adapters stand behind the ports of sagas. */
import { createSagaEngine } from '../adapters/aws/saga-engine.ts';
import { createSagaStore } from '../adapters/aws/saga-store.ts';
import type { SagaEngine, SagaStore } from '../core/saga/ports.ts';
import { type Runtime, required } from './runtime.ts';

export const sagaStore = ({ env }: Runtime): SagaStore =>
  createSagaStore({
    sagasTable: required(env, 'WALKBACK_SAGAS_TABLE'),
    ledgerTable: required(env, 'WALKBACK_LEDGER_TABLE'),
  });

export const sagaEngine = ({ env }: Runtime): SagaEngine =>
  createSagaEngine({ stateMachineArn: required(env, 'WALKBACK_STATE_MACHINE_ARN') });

export const sagaPorts = (runtime: Runtime) => ({
  ...runtime,
  store: sagaStore(runtime),
  engine: sagaEngine(runtime),
});
