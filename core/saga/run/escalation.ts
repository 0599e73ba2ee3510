/**
 * The alert of a failed compensation (S7), kept within the limits of SNS and of the state that carries it.
 * Pure.
 */
import type { Observation } from '../../../contract/saga-observation.ts';
import { clip } from '../../shared/clip.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { plural } from '../../shared/plural.ts';
import type { SagaHead } from '../model/head.ts';
import { notListedIn } from '../view/not-listed.ts';
import { consoleLink, referenceText, stepPath } from '../view/notice.ts';

/** SNS accepts 256 KiB. So does a state, which holds the message as JSON, so the JSON is measured. */
const MAX_MESSAGE_BYTES = 200 * 1024;
const MAX_REASON_LENGTH = 200;
const MAX_CAUSE_LENGTH = 1000;

const sizeOf = (text: string): number => jsonBytes(text);

const lineOf = (left: Observation['notCompensated'][number]): string => {
  const { tool, idempotencyKey, resourceKey, amount, currency, reason } = left;
  const money = amount === undefined ? '' : `, ${amount} ${currency ?? ''}`;
  const resource = resourceKey === undefined ? '' : `, resource ${resourceKey}`;
  const key = idempotencyKey === undefined ? '' : `, key ${idempotencyKey}`;
  return `- ${stepPath(left)} (${tool}) ref ${referenceText(left)}${money}${resource}${key}: ${clip(reason, MAX_REASON_LENGTH)}`;
};

/** As many lines as fit, then the number of the others, including `beside`, which were not in the list at all. */
const listed = (lines: readonly string[], beside: number, roomBytes: number): string[] => {
  let left = roomBytes;
  const over = lines.findIndex((line) => {
    left -= sizeOf(line);
    return left < 0;
  });
  const shown = over === -1 ? [...lines] : lines.slice(0, over);
  const more = lines.length - shown.length + beside;
  return more === 0
    ? shown
    : [...shown, `... and ${more} more, which the ledger lists, of this saga or of those below.`];
};

/** A line with the saga's page, when the console's address is known. */
const lookLine = (consoleUrl: string | undefined, sagaId: string): string[] => {
  const link = consoleLink(consoleUrl, sagaId);
  return link === null ? [] : [`Look: ${link}`];
};

interface Alert {
  subject: string;
  message: string;
}

interface Places {
  /** The link to the execution. */
  execution: string;
  consoleUrl?: string | undefined;
}

/**
 * Lists every reference that a person needs, and where to look. The subject is ASCII and at most 95
 * characters, because SNS takes 100.
 */
export const escalation = (seen: Observation, { execution, consoleUrl }: Places): Alert => {
  const { sagaId, failed } = seen;
  const cause = `${failed?.error.name ?? 'unknown'}: ${failed?.error.message ?? ''}`;
  const before = [
    `Saga ${sagaId} could not be undone completely.`,
    `Asked for by: ${clip(seen.requestedBy, MAX_REASON_LENGTH)}`,
    `Cause: ${clip(cause, MAX_CAUSE_LENGTH)}`,
    'What still stands:',
  ];
  const after = [
    ...lookLine(consoleUrl, sagaId),
    `Execution: ${execution}`,
    `Work it: walkback saga show ${sagaId}; then retry, resolve or skip.`,
  ];
  const roomBytes = MAX_MESSAGE_BYTES - sizeOf([...before, ...after].join('\n'));
  const lines = listed(seen.notCompensated.map(lineOf), notListedIn(seen), roomBytes);
  return {
    subject: `Walkback: compensation failed: ${sagaId}`,
    message: [...before, ...lines, ...after].join('\n'),
  };
};

/** Tells people that an interactive saga waits for a step that does not come. */
export const idleNotice = (
  { sagaId, state, requestedBy }: SagaHead,
  consoleUrl: string | undefined,
): Alert => ({
  subject: `Walkback: no step comes: ${sagaId}`,
  message: [
    `Saga ${sagaId} of ${clip(requestedBy, MAX_REASON_LENGTH)} waits for its next step, and none comes.`,
    `What its ${plural(state.stepCount, 'step')} did stands, and nobody drives it.`,
    ...lookLine(consoleUrl, sagaId),
    `Work it: walkback saga show ${sagaId}; then submit a step, or walkback saga cancel ${sagaId}.`,
  ].join('\n'),
});
