/**
 * The demo's second act: a refund saga fails at its third step and is undone; then a compensation fails and an operator
 * finishes the work. It owns the example's services for its time, and uses nothing else than the functions.
 */

import type { Invoke } from '../../contract/invoke.ts';
import type { LedgerRow, Observation } from '../../contract/saga-answers.ts';
import { refundDefinitions, refundManifests } from '../../examples/refund/catalog.ts';
import { startRefundServices } from '../../examples/refund/services/server.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import { CliError } from '../failure.ts';
import { table } from '../terminal/table.ts';
import { observationText } from '../view/saga-views.ts';
import type { Screen } from './screen.ts';

const STRIPE_KEY = 'sk_test_demo';
const TOOL_FUNCTION = 'walkback-tool-refund';
const WAIT_SECONDS = 60;

export interface RefundProof {
  /** The saga whose third step failed. */
  undone: Observation;
  /** The saga whose compensation failed, before and after the operator. */
  failed: Observation;
  resolved: Observation;
  /** What the providers show in the end. */
  standing: { refunds: number; tickets: number; mails: number };
}

interface Books {
  /** No booking, no reversal; or only no reversal. */
  closed: 'everything' | 'reversals' | 'nothing';
}

interface Act {
  invoke: Invoke;
  screen: Screen;
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

const thirdStepFails = async (act: Act, books: Books): Promise<Observation> => {
  const { screen } = act;
  screen.chapter('A refund saga: the third thing it does to the world fails');
  screen.line('refund the payment, open a ticket, book it; the accounting period is closed');
  books.closed = 'everything';
  const seen = await run(act, 'refund-1001');
  screen.line();
  await showLedger(act, seen.sagaId);
  screen.line();
  screen.block(observationText(seen, screen.paint, screen.width));
  expectStatus(seen, 'COMPENSATED');
  return seen;
};

const compensationFails = async (
  act: Act,
  books: Books,
): Promise<Pick<RefundProof, 'failed' | 'resolved'>> => {
  const { invoke, screen } = act;
  screen.chapter('Another: its mail is refused, and the booking cannot be reversed');
  books.closed = 'reversals';
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

/** Plays the act against a cloud of this process. Throws `ProofFailed` when something ends otherwise than told. */
export const refundAct = async (act: Act): Promise<RefundProof> => {
  const books: Books = { closed: 'nothing' };
  const isReversal = (externalId: string): boolean => externalId.endsWith(':undo');
  const server = await startRefundServices({
    faults: {
      refuseMail: () => true,
      netsuite: {
        closedPeriod: (_, externalId) =>
          books.closed === 'everything' || (books.closed === 'reversals' && isReversal(externalId)),
      },
    },
  });
  try {
    // The tools run in this process, and read where their providers are when they are first called.
    process.env['REFUND_SERVICES_URL'] = server.url;
    process.env['REFUND_STRIPE_KEY'] = STRIPE_KEY;
    for (const id of ['refund-1001', 'refund-1002']) {
      server.world.stripe.addPayment(`pi_${id}`, 12_000);
      const order = {
        id,
        paymentIntent: `pi_${id}`,
        amount: 4200,
        customerEmail: 'ada@example.com',
        daysSinceDelivery: 3,
      };
      server.world.shop.addOrder(order);
    }
    await act.invoke('walkback-put-catalog', {
      tools: refundManifests(servicesAt(server.url, STRIPE_KEY, fetch), TOOL_FUNCTION),
      definitions: refundDefinitions,
    });
    const undone = await thirdStepFails(act, books);
    const { failed, resolved } = await compensationFails(act, books);
    const { stripe, zendesk, shop } = server.world;
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
  } finally {
    await server.close();
  }
};
