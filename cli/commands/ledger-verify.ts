import type { Command } from 'commander';
import { findChainBreak } from '../../core/saga/ledger/hash-chain.ts';
import { fromRow, type LedgerRow } from '../../core/saga/ledger/ledger-row.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { parseId } from '../options.ts';

const PAGE = 500;

/** The whole ledger of one saga, and where its head says it ends. */
const readAll = async (run: Run, sagaId: string) => {
  const rows: LedgerRow[] = [];
  let cursor: string | undefined;
  let tip: { seq: number; hash: string } | undefined;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      sagaId,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...(answer.entries ?? []));
    tip = answer.tip;
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return { rows, tip };
};

const REASONS = {
  missing: 'an entry is missing',
  altered: 'the entry was altered after it was written',
  unlinked: 'the entry does not follow the one before it',
} as const;

export const addLedgerVerify = (parent: Command, app: App): void => {
  parent
    .command('verify')
    .argument('<saga>', 'saga id', parseId)
    .description('check that no entry of a saga was changed, removed or put in; exit code 1 when one was')
    .action((sagaId: string, _: unknown, command: Command) =>
      withConnection(app, command, async (run) => {
        const { rows, tip } = await run.progress('Reading the ledger', () => readAll(run, sagaId));
        const end = tip === undefined ? undefined : { seq: tip.seq, tip: tip.hash };
        const broken = findChainBreak(rows.map(fromRow), end);
        if (broken !== undefined) {
          throw new CliError(
            'LedgerBroken',
            `Saga ${sagaId}, entry ${broken.seq}: ${REASONS[broken.reason]}.`,
          );
        }
        const answer = { sagaId, entries: rows.length, hash: tip?.hash ?? null };
        return {
          value: answer,
          text: () =>
            `${run.paint.green('✔')} ${rows.length} entries, the chain holds ${run.paint.dim(answer.hash ?? '')}\n`,
        };
      }),
    );
};
