import { createQueryLedger } from '../core/saga/ledger/query-ledger.ts';
import { createReadAnchors } from '../core/saga/ledger/read-anchors.ts';
import { anchorStore, ledgerPublicKey } from './anchor-runtime.ts';
import { createHandler } from './handler.ts';
import { ledgerAudit, sagaStore } from './saga-runtime.ts';

export const handler = createHandler('query-ledger', async (runtime) =>
  createQueryLedger({
    store: sagaStore(runtime),
    audit: ledgerAudit(runtime),
    readAnchors: createReadAnchors({ anchors: anchorStore(runtime), publicKey: ledgerPublicKey(runtime) }),
    clock: runtime.clock,
  }),
);
