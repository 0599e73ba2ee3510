/** What proves the third act: the files of the desks, the providers' own state, and the ledgers of the whole tree. */
import { join } from 'node:path';
import { readSaga } from '../../cli/commands/ledger-evidence.ts';
import { type Comparison, compare, type Fingerprint, fingerprint } from '../../cli/demo/fingerprint.ts';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { directoryIn } from '../../client/sandbox-places.ts';
import type { Invoke } from '../../contract/invoke.ts';
import { childIds, verifyFamily } from '../../core/saga/ledger/verify-family.ts';
import { type StoredSaga, verifySaga } from '../../core/saga/ledger/verify-saga.ts';
import type { RefundWorld } from '../refund/services/world.ts';
import { DESK_REPOSITORIES, DESK_ROOT, type Desk } from './desks.ts';

export type DeskState = ReadonlyMap<string, Fingerprint>;

export const deskState = async (
  sandboxes: Pick<LocalSandboxes, 'places'>,
  { sandboxId }: Desk,
): Promise<DeskState> => {
  const root = directoryIn(await sandboxes.places(sandboxId), DESK_ROOT);
  const entries = DESK_REPOSITORIES.map(
    async (name): Promise<[string, Fingerprint]> => [name, await fingerprint(join(root, name))],
  );
  return new Map(await Promise.all(entries));
};

const stateOf = (agent: string, name: string, state: DeskState | undefined): Fingerprint => {
  const found = state?.get(name);
  if (found !== undefined) return found;
  throw new CliError('InternalError', `No fingerprint of ${name} at the desk of ${agent}.`);
};

/** One row for each repository of a desk. */
export const compareDesk = (
  agent: string,
  before: DeskState | undefined,
  after: DeskState | undefined,
): Comparison[] =>
  DESK_REPOSITORIES.map((name) =>
    compare(`${agent} ${name}`, stateOf(agent, name, before), stateOf(agent, name, after)),
  );

/** A desk at which nobody worked would be equal too, so there must have been work. */
export const requireWork = (comparisons: readonly Comparison[]): void => {
  const idle = comparisons.find(({ files }) => files);
  if (idle !== undefined) throw new CliError('ProofFailed', `Nothing was done in ${idle.repository}.`);
};

/** What a tree of sagas did at the providers, as the providers show it. */
export interface Standing {
  /** Order id -> refunds that stand. */
  refunds: Record<string, number>;
  tickets: number;
  booked: number;
  mails: number;
  /** All effects that were ever made there, taken back or not. */
  effects: number;
  /** Effects whose key another effect has too. */
  repeated: number;
}

export const standingOf = (
  { stripe, zendesk, netsuite, shop }: RefundWorld,
  root: string,
  orders: readonly string[],
): Standing => {
  const isOurs = (key: string | null | undefined): boolean =>
    key !== null && key !== undefined && (key.startsWith(`${root}.`) || key.startsWith(`${root}:`));
  const refunds = stripe.state.refunds.filter(({ metadata }) => isOurs(metadata['walkback_key']));
  const tickets = zendesk.state.tickets.filter((ticket) => isOurs(ticket.external_id));
  const entries = netsuite.state.entries.filter(({ externalId }) => isOurs(externalId));
  const mails = shop.state.mails.filter(({ key }) => isOurs(key));
  const keys = [
    ...refunds.map(({ metadata }) => `refund ${metadata['walkback_key'] ?? ''}`),
    ...tickets.map((ticket) => `ticket ${ticket.external_id ?? ''}`),
    ...entries.map(({ externalId }) => `entry ${externalId}`),
    ...mails.map(({ key }) => `mail ${key}`),
  ];
  const stand = refunds.filter(({ status }) => status !== 'canceled');
  return {
    refunds: Object.fromEntries(
      orders.map((order) => [
        order,
        stand.filter(({ payment_intent }) => payment_intent === `pi_${order}`).length,
      ]),
    ),
    tickets: tickets.filter(({ status }) => status !== 'closed').length,
    booked: entries.reduce((sum, { amount }) => sum + amount, 0),
    mails: mails.length,
    effects: keys.length,
    repeated: keys.length - new Set(keys).size,
  };
};

export interface VerifiedTree {
  sagas: number;
  entries: number;
  findings: string[];
}

/** Checks each ledger of the tree, and that the ledgers agree about each other. */
export const verifiedTree = async (invoke: Invoke, root: string): Promise<VerifiedTree> => {
  const tree: StoredSaga[] = [];
  const open = [root];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const saga = await readSaga({ invoke }, next);
    tree.push(saga);
    open.push(...childIds(saga.entries));
  }
  const ledgers = new Map(tree.map(({ sagaId, entries }) => [sagaId, entries]));
  const findings = [...tree.flatMap(verifySaga), ...verifyFamily(ledgers)];
  return {
    sagas: tree.length,
    entries: tree.reduce((sum, { entries }) => sum + entries.length, 0),
    findings: findings.map(({ sagaId, where, message }) => `Saga ${sagaId}, ${where}: ${message}.`),
  };
};

/**
 * Throws `ProofFailed` when the providers hold anything but one of everything for each order, or a ledger
 * does not verify.
 */
export const requireProof = (standing: Standing, { findings }: VerifiedTree, total: number): void => {
  const { refunds, tickets, booked, mails, repeated } = standing;
  const counts = Object.values(refunds);
  const orders = counts.length;
  // A ticket for each order, the one of the case and the report.
  const isRight = counts.every((count) => count === 1) && tickets === orders + 2 && mails === 1;
  if (!isRight || booked !== -total || repeated !== 0)
    throw new CliError('ProofFailed', `The providers hold ${JSON.stringify(standing)}.`);
  if (findings.length > 0) throw new CliError('ProofFailed', findings.join('\n'));
};
