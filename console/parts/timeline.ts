/**
 * A page of a timeline that can be read at a glance: a bar for each checkpoint, and below it the messages,
 * newest first, with what they changed, where the head stands, what rollbacks left behind, and what was not
 * the work of a message.
 */

import { html, raw } from 'hono/html';
import type {
  TimelineAnswer,
  TimelineCheckpoint,
  TimelineMessage,
} from '../../contract/checkpoint-answers.ts';
import { COMPOSED_REASONS } from '../../core/checkpoint/timeline/whose-work.ts';
import { plural } from '../../core/shared/plural.ts';
import { shortCheckpointId, whatMade, whyTaken } from '../../present/checkpoint-words.ts';
import { counts, type Lines } from './counts.ts';
import { badge, type Markup, NOTHING, shown, time } from './markup.ts';

export const linesOf = (checkpoints: readonly TimelineCheckpoint[]): Lines => {
  const sum = { added: 0, deleted: 0 };
  for (const { repositories, reason, lines } of checkpoints) {
    if (reason === 'baseline') continue;
    sum.added += lines?.added ?? 0;
    sum.deleted += lines?.deleted ?? 0;
    for (const { changes } of repositories) {
      sum.added += changes?.added ?? 0;
      sum.deleted += changes?.deleted ?? 0;
    }
  }
  return sum;
};

/** Consecutive checkpoints of one message, or of none. Newest first. */
export interface Group {
  messageId: string | null;
  checkpoints: TimelineCheckpoint[];
}

/**
 * Undo points, and what a merge or a revert made, carry the message at which the session stands, but are not
 * its work.
 */
const NO_WORK = ['baseline', 'rollback', ...COMPOSED_REASONS, 'late-writes'];

export const isWork = ({ reason }: Pick<TimelineCheckpoint, 'reason'>): boolean => !NO_WORK.includes(reason);

export const groupsOf = (checkpoints: readonly TimelineCheckpoint[]): Group[] => {
  const groups: Group[] = [];
  for (const checkpoint of checkpoints) {
    const { messageId } = checkpoint;
    const last = groups.at(-1);
    const isEvent = checkpoint.detached || !isWork(checkpoint);
    const id = isEvent ? null : messageId;
    if (last !== undefined && id !== null && last.messageId === id) last.checkpoints.push(checkpoint);
    else groups.push({ messageId: id, checkpoints: [checkpoint] });
  }
  return groups;
};

const HEIGHT = 36;
const BAR = 6;

/** Taller bars changed more. Everything that they show is also in words. */
const strip = (
  checkpoints: readonly TimelineCheckpoint[],
  headSeq: number,
  chosen: string | undefined,
): Markup => {
  const bars = checkpoints.toReversed().map((one, index) => {
    const { added, deleted } = linesOf([one]);
    const height = Math.min(HEIGHT, 3 + Math.round(Math.log2(1 + added + deleted) * 3));
    const kind =
      one.seq === headSeq
        ? 'head'
        : one.messageId !== null && one.messageId === chosen
          ? 'chosen'
          : !one.onHeadPath
            ? 'off'
            : one.complete
              ? ''
              : 'part';
    return `<rect class="${kind}" x="${index * BAR}" y="${HEIGHT - height}" width="${BAR - 2}" height="${height}"/>`;
  });
  const width = Math.max(bars.length, 30) * BAR;
  return html`<svg class="strip" aria-hidden="true" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">${raw(bars.join(''))}</svg>`;
};

const eventText = (one: TimelineCheckpoint): string =>
  one.halfWritten === true
    ? 'what a rollback, revert or merge that broke off had half written'
    : one.reason === 'rollback'
      ? `undo point: what was there before a rollback${one.by === undefined ? ', revert or merge' : ` or revert by ${one.by.name}${one.by.person === undefined ? ' (claimed)' : ''}`}`
      : one.detached
        ? `in a review copy, ${whyTaken(one)}`
        : (whatMade(one) ?? whyTaken(one));

interface Look {
  headSeq: number;
  chosen: string | undefined;
  messages: ReadonlyMap<string, TimelineMessage>;
  /** Where a message is shown. */
  to: (messageId: string) => string;
}

const groupMarkup = ({ messageId, checkpoints }: Group, { headSeq, chosen, messages, to }: Look): Markup => {
  const [newest] = checkpoints;
  if (newest === undefined) return NOTHING;
  const isHead = checkpoints.some(({ seq }) => seq === headSeq);
  const isOff = checkpoints.every(({ onHeadPath }) => !onHeadPath);
  const kind = `${isOff ? 'off' : 'on'}${isHead ? ' head' : ''}`;
  const head = isHead ? html` ${badge('head', 'calm')}` : NOTHING;
  if (messageId === null) {
    return html`<li class="event ${kind}"><code>${shortCheckpointId(newest.seq)}</code> ${shown(eventText(newest))}${head} · ${time(newest.createdAt)}</li>`;
  }
  const message = messages.get(messageId);
  const missing = checkpoints.filter(({ complete }) => !complete).length;
  return html`<li class="${kind}"><a href="${to(messageId)}"${messageId === chosen ? html` aria-current="true"` : NOTHING}><span class="what">${shown(message?.title ?? messageId)}</span>
    <span class="meta">${time(newest.createdAt)}${counts(linesOf(checkpoints))}${checkpoints.length > 1 ? html`<span>${plural(checkpoints.length, 'checkpoint')}</span>` : NOTHING}${isOff ? html`<span>left behind</span>` : NOTHING}${missing > 0 ? badge('incomplete', 'ask') : NOTHING}${head}</span></a></li>`;
};

export const timelinePart = (
  { session, checkpoints, messages }: TimelineAnswer,
  chosen: string | undefined,
  to: (messageId: string) => string,
): Markup => {
  const left = checkpoints.filter(({ onHeadPath, detached }) => !onHeadPath && !detached).length;
  const look = {
    headSeq: session.headSeq,
    chosen,
    to,
    messages: new Map(messages.map((one) => [one.messageId, one])),
  };
  const [newest, oldest] = [checkpoints[0], checkpoints.at(-1)];
  const range =
    newest === undefined || oldest === undefined
      ? 'No checkpoint'
      : `${shortCheckpointId(oldest.seq)} to ${shortCheckpointId(newest.seq)} of ${session.seq}`;
  return html`${strip(checkpoints, session.headSeq, chosen)}
    <p class="meta">${range}${left > 0 ? html`<span>, ${left} left behind by rollbacks</span>` : NOTHING}</p>
    <ol class="timeline">${groupsOf(checkpoints).map((group) => groupMarkup(group, look))}</ol>`;
};
