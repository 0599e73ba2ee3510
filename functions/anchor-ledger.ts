import { createAnchorLedger } from '../core/saga/ledger/write-anchors.ts';
import { anchorStore, ledgerSigner, readOutcomes } from './anchor-runtime.ts';
import { createHandler } from './handler.ts';

/** Runs by the clock, and when an operator wants all settled entries to be anchored now. */
export const handler = createHandler('anchor-ledger', async (runtime) => {
  const anchor = createAnchorLedger({
    anchors: anchorStore(runtime),
    signer: ledgerSigner(runtime),
    outcomes: readOutcomes(runtime),
    clock: runtime.clock,
    log: runtime.log,
  });
  return (_, invocation) => anchor(invocation);
});
