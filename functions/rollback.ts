import { createRollback } from '../core/checkpoint/rollback/rollback.ts';
import { tellingEffects } from '../core/checkpoint/rollback/tell-effects.ts';
import { createSessionEffects } from '../core/saga/view/session-effects.ts';
import { createHandler } from './handler.ts';
import { identifiedIfPerson } from './identity-runtime.ts';
import { sagaStore } from './saga-runtime.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('rollback', async (runtime) => {
  const ports = await checkpointPorts(runtime);
  const effects = createSessionEffects(sagaStore(runtime));
  const rollback = tellingEffects(createRollback(ports), { store: ports.store, effects });
  return identifiedIfPerson(runtime, 'rollback', rollback);
});
