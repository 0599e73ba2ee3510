import { createQueryLedger } from '../core/saga/ledger/query-ledger.ts';
import { createHandler } from './handler.ts';
import { ledgerAudit, sagaStore } from './saga-runtime.ts';

export const handler = createHandler('query-ledger', async (runtime) =>
  createQueryLedger({ store: sagaStore(runtime), audit: ledgerAudit(runtime), clock: runtime.clock }),
);
