/** One session: its messages and, for the chosen one, what was captured and what it did elsewhere. */
import { html } from 'hono/html';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import type {
  Progress,
  TimelineAnswer,
  TimelineCheckpoint,
  TimelineMessage,
} from '../../contract/checkpoint-answers.ts';
import type { SagasAnswer } from '../../contract/saga-lists.ts';
import { shortCheckpointId } from '../../present/checkpoint-words.ts';
import { progressWords } from '../../present/progress-words.ts';
import type { Show, Visit } from '../context.ts';
import { roomFor } from '../diff/markup.ts';
import { type Further, failedData, failedPart, further } from '../further.ts';
import { callsPart, messageText } from '../parts/calls.ts';
import { counts } from '../parts/counts.ts';
import { outsidePart } from '../parts/effects.ts';
import { fileTreePart } from '../parts/file-tree.ts';
import {
  badge,
  facts,
  form,
  ident,
  link,
  type Markup,
  NOTHING,
  path,
  query,
  shown,
  time,
} from '../parts/markup.ts';
import { groupsOf, isWork, linesOf, timelinePart } from '../parts/timeline.ts';
import { fileLinks } from '../parts/wider.ts';

const PAGE = 100;

/** Reverts and merges are made like rollbacks. */
const AT_WORK = { rollback: 'A rollback, revert or merge', resume: 'A resume' } as const;

const acts = (visit: Visit, sessionId: string, { messageId, checkpointId }: TimelineMessage): Markup => {
  const of = query({ message: messageId });
  const here = path('sessions', sessionId);
  const permalink = html`<a class="button" data-copy href="${here}${of}">Link to this message</a>`;
  if (checkpointId === null) {
    return html`<p class="hint">Its checkpoint has expired: nothing goes back to it any more.</p><div class="acts">${permalink}</div>`;
  }
  return html`<div class="acts"><a class="button main" href="${here}/plan${of}">Go back to here…</a>
    <a class="button" href="${here}/compare${query({ from: messageId, to: 'head' })}">Compare with the head</a>
    <a class="button" href="${here}/bisect${query({ bad: messageId })}">What broke it?</a>
    <a class="button" href="${here}/blame${query({ at: messageId })}">Who wrote a line?</a>
    ${form(`${here}/copy`, visit.formToken, { message: messageId, request: `console-${crypto.randomUUID()}` }, html`<button type="submit">Open a review copy</button>`)}
    ${permalink}</div>`;
};

/** `files`: where the files of a fork are on this machine; undefined: inside its sandbox only. */
const sessionFacts = ({ session }: TimelineAnswer, files: string | undefined): Markup =>
  facts([
    ['Status', session.busy === null ? badge(session.status) : badge('at work', 'ask')],
    ...(session.metadata['agent'] ? [['Agent', shown(session.metadata['agent'])] as const] : []),
    ...(session.project === undefined ? [] : [['Project', shown(session.project)] as const]),
    ...(session.forkedFrom === undefined
      ? [['Directory', shown(session.projectsRoot)] as const]
      : files === undefined
        ? [
            ['Sandbox', ident(session.sandboxId)] as const,
            ['Files inside its sandbox', shown(session.projectsRoot)] as const,
          ]
        : [['Files', shown(files)] as const]),
    ['Repositories', String(session.repositories)],
    ...(session.lines.added + session.lines.deleted === 0
      ? []
      : [['Lines of its messages', counts(session.lines)] as const]),
    ['Head', session.headSeq > 0 ? html`<code>${shortCheckpointId(session.headSeq)}</code>` : 'none'],
    ['Epoch', String(session.epoch)],
    ['Started', time(session.createdAt)],
    ['Last change', time(session.updatedAt)],
    ['Kept until', time(new Date(session.expiresAt * 1000).toISOString())],
    ...(session.forkedFrom === undefined
      ? []
      : [
          [
            'A fork of',
            link(path('sessions', session.forkedFrom.sessionId), session.forkedFrom.sessionId),
          ] as const,
        ]),
  ]);

interface Chosen {
  message: TimelineMessage;
  checkpoints: TimelineCheckpoint[];
  changes: Further<ChangesAnswer>;
  sagas: Further<SagasAnswer>;
}

const chosenPart = (visit: Visit, { session }: TimelineAnswer, chosen: Chosen): Markup => {
  const { sessionId, headSeq } = session;
  const { message, checkpoints } = chosen;
  const { read: changes } = chosen.changes;
  const { read: sagas } = chosen.sagas;
  const { messageId, title, role, discarded } = message;
  const here = path('sessions', sessionId);
  const room = roomFor();
  const at = (more: Readonly<Record<string, string | undefined>>): string =>
    `${here}${query({ ...visit.query, message: messageId, ...more })}`;
  // The tree has the files that this has shown.
  const calls = callsPart(changes?.checkpoints ?? [], {
    room,
    alone: (repository) => at({ repository }),
    links: ({ from, to }, repository, file) => fileLinks(sessionId, { from, to }, repository, file),
    back: (checkpoint) => `${here}/plan${query({ checkpoint })}`,
    messageId,
    headSeq,
  });
  return html`<h2>${shown(title ?? messageId)} ${discarded ? badge('left behind by a rollback', 'calm') : NOTHING}</h2>
    <p class="meta">${shown(role)} ${time(checkpoints[0]?.createdAt)} ${counts(linesOf(checkpoints))} ${ident(messageId)}</p>
    ${acts(visit, sessionId, message)}${messageText(changes?.checkpoints ?? [])}
    <div class="beside"><div class="side">${fileTreePart(room.files)}${chosen.sagas.failed === undefined ? outsidePart(sagas ?? { sagas: [] }) : failedPart('What sagas did outside', chosen.sagas)}${
      sagas?.cursor === undefined
        ? NOTHING
        : html`<p class="cut">Cut here: <a href="${at({ outside: sagas.cursor })}">what further sagas of this message did</a>.</p>`
    }</div>
    <div>${failedPart('What it changed', chosen.changes)}${changes !== undefined ? calls : chosen.changes.failed === undefined ? html`<p class="empty">No checkpoint of it is kept.</p>` : NOTHING}
    ${changes?.cursor === undefined ? NOTHING : html`<p class="cut">Cut here: <a href="${at({ more: changes.cursor })}">further calls of this message</a>.</p>`}</div></div>`;
};

/** A person who may not see sagas still sees the rest of the page. */
const sagasOf = (visit: Visit, sessionId: string, messageId: string): Promise<Further<SagasAnswer>> => {
  const { outside } = visit.query;
  const cursor = outside ? { cursor: outside } : {};
  return further(
    visit,
    visit.ask('list-sagas', { sessionId, messageId, subject: true, limit: 50, ...cursor }),
  );
};

/** Nothing where all its checkpoints have expired. */
const changesOf = (visit: Visit, sessionId: string, messageId: string): Promise<Further<ChangesAnswer>> => {
  const { repository, more } = visit.query;
  const request = {
    sessionId,
    messageId,
    ...(repository ? { path: repository } : {}),
    ...(more ? { cursor: more } : {}),
  };
  return further(visit, visit.ask('changes', request));
};

const progressPart = (progress: Progress | null | undefined): Markup =>
  progress ? html`<p class="card">At work: ${progressWords(progress)}.</p>` : NOTHING;

export const showSession: Show = async (visit) => {
  const { ask, params, query: asked } = visit;
  const sessionId = params['id'] ?? '';
  const { message, before } = asked;
  const asking = further(visit, ask('progress', { sessionId }));
  const timeline = await ask('timeline', {
    sessionId,
    limit: PAGE,
    brief: true,
    ...(before ? { cursor: before } : {}),
  });
  const progress = await asking;
  const { messages, checkpoints, session } = timeline;
  const isFork = session.forkedFrom !== undefined;
  const placing = isFork ? visit.directoryOf(session.sandboxId, session.projectsRoot) : undefined;
  const newest = groupsOf(checkpoints).find(({ messageId }) => messageId !== null)?.messageId;
  const id = message || newest;
  const meant = messages.find(({ messageId }) => messageId === id);
  let chosen: Chosen | undefined;
  if (meant !== undefined) {
    const { messageId } = meant;
    const [changes, sagas] = await Promise.all([
      changesOf(visit, sessionId, messageId),
      sagasOf(visit, sessionId, messageId),
    ]);
    const of = checkpoints.filter((one) => one.messageId === messageId && isWork(one));
    chosen = { message: meant, checkpoints: of, changes, sagas };
  }
  const here = path('sessions', sessionId);
  const to = (messageId: string): string => `${here}${query({ message: messageId, before })}`;
  const body = html`${sessionFacts(timeline, await placing)}
  ${timeline.session.busy === null ? NOTHING : html`<p class="card warn">${AT_WORK[timeline.session.busy.kind]} is at work until ${time(new Date(timeline.session.busy.untilMs).toISOString(), 'clock')} at the latest.</p>`}
  ${failedPart('How far the work is', progress)}${progressPart(progress.read?.progress)}
  <div class="split">
    <aside aria-label="Messages"><a class="skip" href="#chosen">Skip to the chosen message</a>${timelinePart(timeline, chosen?.message.messageId, to)}
    <p class="acts">${before ? html`<a class="button" href="${here}">Newest</a>` : NOTHING}${timeline.cursor === undefined ? NOTHING : html`<a class="button" href="${here}${query({ before: timeline.cursor })}">Older</a>`}<a class="button" href="${here}/compare">Compare any two points</a></p></aside>
    <section id="chosen" tabindex="-1" aria-label="The chosen message">${chosen === undefined ? html`<p class="empty">${message ? html`There is no message ${shown(message)} in this session.` : 'No message yet.'}</p>` : chosenPart(visit, timeline, chosen)}</section>
  </div>`;
  return {
    title: `Session ${sessionId}`,
    body,
    data: {
      ...timeline,
      progress: progress.read?.progress ?? null,
      changes: chosen?.changes.read?.checkpoints ?? [],
      sagas: chosen?.sagas.read?.sagas ?? [],
      effects: chosen?.sagas.read?.effects ?? [],
      // Named as in the addresses of the further pages.
      more: chosen?.changes.read?.cursor,
      outside: chosen?.sagas.read?.cursor,
      ...failedData({
        progress,
        ...(chosen && { changes: chosen.changes, sagas: chosen.sagas }),
      }),
    },
    isWide: true,
  };
};
