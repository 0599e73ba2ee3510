import { makeQueryLedger } from '../core/saga/query-ledger.ts';
import { queryLedgerInput } from '../core/saga/schemas.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('query-ledger', queryLedgerInput, async (runtime) =>
  makeQueryLedger({ store: sagaStore(runtime), clock: runtime.clock }),
);
