import type { Command } from 'commander';
import type { App } from '../app.ts';
import { addLedgerExport, addLedgerQuery } from './ledger-query.ts';
import { addLedgerVerify } from './ledger-verify.ts';

export const addLedger = (program: Command, app: App): void => {
  const ledger = program.command('ledger').description('read and verify the ledger of sagas');
  addLedgerQuery(ledger, app);
  addLedgerExport(ledger, app);
  addLedgerVerify(ledger, app);
};
