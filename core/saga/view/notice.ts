/**
 * What people are told when a saga waits for their approval or could not be undone: who asked, what would be
 * or was moved, every reference that fits, and where to look. Arguments and results are left out, because
 * they may hold secrets and the notice leaves the account. Pure.
 */
import type { SagaNotice } from '../../../contract/events.ts';
import type { Observation } from '../../../contract/saga-observation.ts';
import { KIB } from '../../../contract/sizes.ts';
import { firstThatFit } from '../../shared/bounded.ts';
import { clip } from '../../shared/clip.ts';
import { notListedIn } from './not-listed.ts';

/** SNS accepts 100 characters of ASCII. */
const MAX_SUBJECT = 95;
const MAX_TEXT = 500;
/** EventBridge accepts 256 KB per event, and the error's message needs room too. Sizes are of the JSON. */
const LISTED = { count: 50, bytes: 192 * KIB };

const short = (text: string): string => clip(text, MAX_TEXT);

const money = ({
  amount,
  currency,
}: {
  amount?: string | undefined;
  currency?: string | undefined;
}): string => (amount === undefined ? '' : `, ${amount} ${currency ?? ''}`.trimEnd());

/** The page of a saga, when the console's address is known. */
export const consoleLink = (consoleUrl: string | undefined, sagaId: string): string | null =>
  consoleUrl === undefined ? null : `${consoleUrl.replace(/\/+$/, '')}/sagas/${encodeURIComponent(sagaId)}`;

const whereLine = (link: string | null, sagaId: string): string =>
  link === null ? `Look: walkback saga show ${sagaId}` : `Look: ${link}`;

const approvalNotice = (
  seen: Observation,
  awaiting: NonNullable<Observation['awaiting']>,
  link: string | null,
): SagaNotice => {
  const { sagaId } = seen;
  const { step, tool, version, until, argumentsHash, amount, currency, prompt, promptBy } = awaiting;
  const requestedBy = short(seen.requestedBy);
  const committed = seen.committed.map((one) => ({
    step: one.step,
    tool: one.tool,
    externalRef: one.externalRef,
    ...(one.externalUrl === undefined ? {} : { externalUrl: one.externalUrl }),
    ...(one.amount === undefined ? {} : { amount: one.amount }),
    ...(one.currency === undefined ? {} : { currency: one.currency }),
  }));
  const references = firstThatFit(committed, LISTED);
  return {
    kind: 'approval_waiting',
    subject: clip(`Walkback: approval waits: ${sagaId}`, MAX_SUBJECT),
    text: [
      `Saga ${sagaId} of ${requestedBy} waits for an approval: step ${step} (${tool}@${version})${money(awaiting)}.`,
      ...(prompt === undefined ? [] : [`Asked by the ${promptBy ?? 'agent'}: ${short(prompt)}`]),
      `Deadline: ${until}`,
      whereLine(link, sagaId),
    ].join('\n'),
    link,
    requestedBy,
    step,
    tool,
    deadline: until,
    ...(argumentsHash === undefined ? {} : { argumentsHash }),
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency }),
    references,
    more: committed.length - references.length,
  };
};

type Left = Observation['notCompensated'][number];

/** The step. For a saga below, also the steps above it and the id of the saga to work on. */
export const stepPath = ({ step, path, sagaId }: Left): string =>
  path === undefined || sagaId === undefined ? step : `${short(path)}/${step} of saga ${sagaId}`;

/** The reference, and where people see it. */
export const referenceText = ({ externalRef, externalUrl }: Left): string =>
  `${externalRef ?? 'none'}${externalUrl === undefined ? '' : ` ${externalUrl}`}`;

/** What stands, for people and for programs. */
const listedOf = (left: Left) => ({
  line: `- ${stepPath(left)} (${left.tool})${money(left)}, ref ${referenceText(left)}: ${clip(left.reason, 200)}`,
  reference: {
    step: left.step,
    tool: left.tool,
    externalRef: left.externalRef,
    ...(left.externalUrl === undefined ? {} : { externalUrl: left.externalUrl }),
    ...(left.sagaId === undefined ? {} : { sagaId: left.sagaId }),
    ...(left.resourceKey === undefined ? {} : { resourceKey: short(left.resourceKey) }),
    ...(left.idempotencyKey === undefined ? {} : { idempotencyKey: left.idempotencyKey }),
    ...(left.amount === undefined ? {} : { amount: left.amount }),
    ...(left.currency === undefined ? {} : { currency: left.currency }),
  },
});

const failureNotice = (seen: Observation, link: string | null): SagaNotice => {
  const { sagaId, notCompensated } = seen;
  const requestedBy = short(seen.requestedBy);
  const listed = firstThatFit(notCompensated.map(listedOf), LISTED);
  const more = notCompensated.length - listed.length + notListedIn(seen);
  const [first] = notCompensated;
  const one = notCompensated.length === 1 ? first : undefined;
  return {
    kind: 'compensation_failed',
    subject: clip(`Walkback: compensation failed: ${sagaId}`, MAX_SUBJECT),
    text: [
      `Saga ${sagaId} of ${requestedBy} could not be undone completely. What still stands:`,
      ...listed.map(({ line }) => line),
      ...(more === 0
        ? []
        : [`... and ${more} more, which the ledger lists, of this saga or of those below.`]),
      whereLine(link, sagaId),
    ].join('\n'),
    link,
    requestedBy,
    // With several steps there is no single amount; each reference has its own.
    ...(one === undefined ? {} : { step: one.step, tool: one.tool }),
    ...(one?.amount === undefined ? {} : { amount: one.amount }),
    ...(one?.currency === undefined ? {} : { currency: one.currency }),
    references: listed.map(({ reference }) => reference),
    more,
  };
};

/** Undefined when nobody has to do anything. */
export const noticeOf = (seen: Observation, consoleUrl: string | undefined): SagaNotice | undefined => {
  const link = consoleLink(consoleUrl, seen.sagaId);
  if (seen.status === 'COMPENSATION_FAILED') return failureNotice(seen, link);
  return seen.awaiting === undefined ? undefined : approvalNotice(seen, seen.awaiting, link);
};
