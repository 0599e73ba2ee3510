import type { Command } from 'commander';
import type { App } from '../app.ts';
import { addLedgerBackfill } from './ledger-backfill.ts';
import { addLedgerExport, addLedgerQuery } from './ledger-query.ts';
import { addLedgerVerify } from './ledger-verify.ts';

export const defineLedger = (ledger: Command, app: App): void => {
  addLedgerQuery(ledger, app);
  addLedgerExport(ledger, app);
  addLedgerVerify(ledger, app);
  addLedgerBackfill(ledger, app);
};
