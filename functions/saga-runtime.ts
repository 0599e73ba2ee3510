/** The part of the composition root that wires the ports of sagas. */
import { createSagaAudit } from '../adapters/aws/sagas/saga-audit.ts';
import { createSagaEngine } from '../adapters/aws/sagas/saga-engine.ts';
import { createSagaStore } from '../adapters/aws/sagas/saga-store.ts';
import { createTombstones } from '../adapters/aws/sagas/saga-tombstones.ts';
import { createToolFunctions } from '../adapters/aws/sagas/tool-functions.ts';
import { createToolInvoker } from '../adapters/aws/sagas/tool-invoker.ts';
import type { LedgerAudit } from '../core/saga/ledger/audit.ts';
import { type BuiltIn, withBuiltIn } from '../core/saga/plan/built-in.ts';
import type { SagaEngine, SagaStore, Tombstones, ToolFunctions, ToolInvoker } from '../core/saga/ports.ts';
import catalog from '../tools/catalog.json' with { type: 'json' };
import { metricsNamespace, optional, type Runtime, required } from './runtime.ts';

/**
 * The catalog entries that come with Walkback, with the function name that they have in this deployment. `npm
 * run docs` writes the file from the tools themselves, and test/unit/built-in-tools.test.ts checks each entry
 * as `put-catalog` would.
 */
const builtIn = (): BuiltIn => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the comment above says
  const { tools, definitions } = catalog as unknown as BuiltIn;
  const functionName = `${metricsNamespace() ?? 'walkback'}-workspace-tools`;
  return { tools: tools.map((tool) => ({ ...tool, functionName })), definitions };
};

export const sagaStore = ({ env }: Runtime): SagaStore =>
  withBuiltIn(
    createSagaStore({
      sagasTable: required(env, 'WALKBACK_SAGAS_TABLE'),
      ledgerTable: required(env, 'WALKBACK_LEDGER_TABLE'),
      sessionsTable: optional(env, 'WALKBACK_SESSIONS_TABLE'),
    }),
    builtIn(),
  );

export const ledgerAudit = ({ env }: Runtime): LedgerAudit =>
  createSagaAudit({
    sagasTable: required(env, 'WALKBACK_SAGAS_TABLE'),
    ledgerTable: required(env, 'WALKBACK_LEDGER_TABLE'),
  });

export const sagaEngine = ({ env }: Runtime): SagaEngine =>
  createSagaEngine({ stateMachineArn: required(env, 'WALKBACK_STATE_MACHINE_ARN') });

export const sagaTombstones = ({ env }: Runtime): Tombstones =>
  createTombstones({ sagasTable: required(env, 'WALKBACK_SAGAS_TABLE') });

export const toolInvoker = (): ToolInvoker => createToolInvoker();

export const toolFunctions = (): ToolFunctions => createToolFunctions();

/** Only the embedded cloud sets this variable, never a deployment. */
export const mayUseLoopbackTools = ({ env }: Runtime): boolean =>
  env['WALKBACK_LOOPBACK_TOOLS'] === 'allowed';

export const sagaPorts = (runtime: Runtime) => ({
  ...runtime,
  store: sagaStore(runtime),
  engine: sagaEngine(runtime),
});
