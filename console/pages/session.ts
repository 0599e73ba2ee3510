/** One session: its messages, and beside them what was captured for the chosen one, and what it did elsewhere. */
import { html } from 'hono/html';
import { plural } from '../../cli/terminal/text.ts';
import { changesOf, shortCheckpointId, warningsOf, whyTaken } from '../../cli/view/timeline-rows.ts';
import type {
  TimelineAnswer,
  TimelineCheckpoint,
  TimelineMessage,
} from '../../contract/checkpoint-answers.ts';
import type { Ask, Show } from '../context.ts';
import { changesPart } from '../parts/changes.ts';
import {
  badge,
  facts,
  link,
  list,
  type Markup,
  NOTHING,
  path,
  query,
  shown,
  table,
  time,
} from '../parts/markup.ts';

const PAGE = 200;

/** The newest part of the timeline, and a mark when there is more. */
const readTimeline = (ask: Ask, sessionId: string): Promise<TimelineAnswer> =>
  ask('timeline', { sessionId, limit: PAGE });

const messageLink = (sessionId: string, message: TimelineMessage, chosen: string | undefined): Markup =>
  html`<li><a href="${path('sessions', sessionId)}${query({ message: message.messageId })}"${
    message.messageId === chosen ? html` aria-current="true"` : ''
  }${message.discarded ? html` class="left"` : ''}>${shown(message.messageId)}</a></li>`;

const checkpointRows = (caption: string, checkpoints: readonly TimelineCheckpoint[]): Markup =>
  table(
    caption,
    [
      { title: 'Checkpoint', cell: ({ seq }) => html`<code>${shortCheckpointId(seq)}</code>` },
      { title: 'Taken', cell: (one) => shown(whyTaken(one)) },
      { title: 'When', cell: ({ createdAt }) => time(createdAt) },
      { title: 'Changed', cell: (one) => shown(changesOf(one)) },
      {
        title: 'Complete',
        cell: (one) => (one.complete ? 'yes' : list(warningsOf(one).map((line) => shown(line)))),
      },
    ],
    checkpoints,
    'None.',
  );

const omissions = (checkpoints: readonly TimelineCheckpoint[]): Markup => {
  const lines = checkpoints.flatMap(({ failures, skipped }) => [...failures, ...skipped]);
  if (lines.length === 0) return NOTHING;
  const told = lines.slice(0, 20).map(({ path: name, reason }) => html`${shown(name)}: ${shown(reason)}`);
  const more = lines.length - told.length;
  return html`<h2>Not captured</h2>${list(told)}${more > 0 ? html`<p class="hint">and ${more} more</p>` : NOTHING}`;
};

const wayBack = (sessionId: string, { messageId, checkpointId }: TimelineMessage): Markup =>
  checkpointId === null
    ? html`<p class="hint">Its checkpoint has expired: nothing goes back to it any more.</p>`
    : html`<p><a href="${path('sessions', sessionId, 'plan')}${query({ message: messageId })}">Plan a rollback to this message</a></p>`;

export const showSession: Show = async ({ ask, params: { id: sessionId = '' }, query: { message } }) => {
  const timeline = await readTimeline(ask, sessionId);
  const { session, messages, checkpoints } = timeline;
  const newest = messages.toSorted((a, b) => b.order - a.order);
  const chosen = newest.find(({ messageId }) => messageId === message) ?? newest[0];
  const of = checkpoints.filter(({ messageId }) => messageId === chosen?.messageId);
  const changes =
    chosen === undefined || of.length === 0
      ? undefined
      : await ask('changes', { sessionId, messageId: chosen.messageId });
  const others = checkpoints.filter(({ messageId }) => messageId === null);
  const body = html`${facts([
    ['Status', badge(session.status)],
    ['Repositories below', shown(session.projectsRoot)],
    ['Head', session.headSeq > 0 ? html`<code>${shortCheckpointId(session.headSeq)}</code>` : 'none'],
    ['Epoch', String(session.epoch)],
    ['Started', time(session.createdAt)],
    ['Kept until', time(new Date(session.expiresAt * 1000).toISOString())],
  ])}
  ${session.busy === null ? NOTHING : html`<p class="card warn">A ${session.busy.kind} is at work until ${time(new Date(session.busy.untilMs).toISOString())} at the latest.</p>`}
  <div class="split">
    <section aria-label="Messages"><h2>Messages</h2>${
      newest.length === 0
        ? html`<p class="empty">No message yet.</p>`
        : html`<ol class="messages">${newest.map((one) => messageLink(sessionId, one, chosen?.messageId))}</ol>`
    }${timeline.cursor === undefined ? NOTHING : html`<p class="hint">Only the newest ${plural(checkpoints.length, 'checkpoint')} are shown.</p>`}</section>
    <section aria-label="The chosen message">${
      chosen === undefined
        ? NOTHING
        : html`<h2>${shown(chosen.messageId)} ${chosen.discarded ? badge('left behind by a rollback', 'calm') : NOTHING}</h2>${wayBack(sessionId, chosen)}${checkpointRows('Checkpoints of this message', of)}${(changes?.checkpoints ?? []).map((one) => changesPart(one))}${changes?.cursor === undefined ? NOTHING : html`<p class="hint">There is more; walkback changes shows all.</p>`}${omissions(of)}`
    }${others.length === 0 ? NOTHING : html`<h2>Of no message</h2>${checkpointRows('Checkpoints of no message', others)}`}</section>
  </div>
  <p>${link(`${path('sessions', sessionId)}${query({ ...(message === undefined ? {} : { message }), format: 'json' })}`, 'This page as JSON')}</p>`;
  return { title: `Session ${sessionId}`, body, data: { ...timeline, changes: changes?.checkpoints ?? [] } };
};
