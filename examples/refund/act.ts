/**
 * The demo's second act: a refund saga fails at its third step and is undone. Then a compensation fails, and
 * an operator finishes the work. The act uses only the functions.
 */

import type { Providers } from '../../cli/demo/providers.ts';
import type { Screen } from '../../cli/demo/screen.ts';
import { CliError } from '../../cli/failure.ts';
import { table } from '../../cli/terminal/table.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import type { Invoke } from '../../contract/invoke.ts';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { Observation } from '../../contract/saga-observation.ts';

const WAIT_SECONDS = 60;

export interface RefundProof {
  /** The saga whose third step failed. */
  undone: Observation;
  /** The saga whose compensation failed, before and after the operator. */
  failed: Observation;
  resolved: Observation;
  /** What the providers show at the end. */
  standing: { refunds: number; tickets: number; mails: number };
}

interface Act {
  invoke: Invoke;
  screen: Screen;
  providers: Providers;
}

const run = async ({ invoke, screen }: Act, sagaId: string): Promise<Observation> => {
  await invoke('walkback-start-saga', {
    sagaId,
    definition: { name: 'refund' },
    input: { orderId: sagaId, reason: 'does not fit' },
    requestedBy: 'agent',
  });
  return screen.progress('Running the saga', () =>
    invoke('walkback-describe-saga', { sagaId, waitSeconds: WAIT_SECONDS }),
  );
};

const showLedger = async ({ invoke, screen }: Act, sagaId: string): Promise<void> => {
  const { entries = [] } = await invoke('walkback-query-ledger', { sagaId });
  const told = entries.filter((row: LedgerRow) => row.status !== 'started');
  const columns = [
    { head: 'SEQ', align: 'right' as const },
    { head: 'STEP' },
    { head: 'WHAT' },
    { head: 'REFERENCE' },
  ];
  const cells = told.map((row) => [
    String(row.seq),
    row.step ?? '-',
    `${row.direction} ${row.status}`,
    row.external_ref ?? '-',
  ]);
  screen.block(table(columns, cells, screen.paint));
};

const expectStatus = (seen: Observation, status: Observation['status']): void => {
  if (seen.status !== status)
    throw new CliError('ProofFailed', `Saga ${seen.sagaId} is ${seen.status}, not ${status}.`);
};

const thirdStepFails = async (act: Act): Promise<Observation> => {
  const { screen, providers } = act;
  screen.chapter('A refund saga: the third thing it does to the world fails');
  screen.line('refund the payment, open a ticket, book it; the accounting period is closed');
  providers.closedFor = () => true;
  const seen = await run(act, 'refund-1001');
  screen.line();
  await showLedger(act, seen.sagaId);
  screen.line();
  screen.block(observationText(seen, screen.paint, screen.width));
  expectStatus(seen, 'COMPENSATED');
  return seen;
};

const compensationFails = async (act: Act): Promise<Pick<RefundProof, 'failed' | 'resolved'>> => {
  const { invoke, screen, providers } = act;
  screen.chapter('Another: its mail is refused, and the booking cannot be reversed');
  providers.closedFor = (externalId) => externalId.endsWith(':undo');
  providers.refusesMail = true;
  const failed = await run(act, 'refund-1002');
  screen.block(observationText(failed, screen.paint, screen.width));
  expectStatus(failed, 'COMPENSATION_FAILED');

  screen.chapter('An operator reverses it by hand, and says so');
  const evidence = 'reversed in NetSuite by hand, journal entry 9044';
  screen.line(`walkback saga resolve ${failed.sagaId} booking \\`);
  screen.line(`  --evidence "${evidence}"`);
  await invoke('walkback-operate-saga', {
    sagaId: failed.sagaId,
    action: 'resolve',
    stepId: 'booking',
    by: 'finance',
    evidence,
  });
  const resolved = await screen.progress('Finishing the saga', () =>
    invoke('walkback-describe-saga', { sagaId: failed.sagaId, waitSeconds: WAIT_SECONDS }),
  );
  screen.block(observationText(resolved, screen.paint, screen.width));
  expectStatus(resolved, 'COMPENSATED');
  return { failed, resolved };
};

/** Plays the act in a cloud of this process. Throws `ProofFailed` when something ends differently. */
export const refundAct = async (act: Act): Promise<RefundProof> => {
  for (const id of ['refund-1001', 'refund-1002']) {
    act.providers.addOrder({ id, customerEmail: 'ada@example.com' });
  }
  const undone = await thirdStepFails(act);
  const { failed, resolved } = await compensationFails(act);
  const { stripe, zendesk, shop } = act.providers.world;
  return {
    undone,
    failed,
    resolved,
    standing: {
      refunds: stripe.state.refunds.filter(({ status }) => status !== 'canceled').length,
      tickets: zendesk.state.tickets.filter(({ status }) => status !== 'closed').length,
      mails: shop.state.mails.length,
    },
  };
};
