/**
 * Writes one session as one file that opens without a server: no request, no script, all content as text. It
 * is written piece by piece. What does not fit is cut, and the file says so.
 */

import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { CheckpointChanges } from '../../contract/change-answers.ts';
import type { TimelineAnswer, TimelineMessage } from '../../contract/checkpoint-answers.ts';
import type { SagaSummary, SagasAnswer, SessionEffect } from '../../contract/saga-lists.ts';
import { plural } from '../../core/shared/plural.ts';
import { shortCheckpointId } from '../../present/checkpoint-words.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import type { Ask } from '../context.ts';
import { roomFor } from '../diff/markup.ts';
import { callsPart, messageText } from '../parts/calls.ts';
import { outsidePart } from '../parts/effects.ts';
import { fileTreePart } from '../parts/file-tree.ts';
import { entryRows } from '../parts/ledger-tables.ts';
import { badge, facts, ident, list, type Markup, NOTHING, shown, time } from '../parts/markup.ts';
import { STYLE } from '../parts/style.ts';
import { timelinePart } from '../parts/timeline.ts';

export interface ExportOptions {
  ask: Ask;
  /** Whether an error of `ask` means that the thing no longer exists. */
  isNotFound: (error: unknown) => boolean;
  sessionId: string;
  maxBytes: number;
  now: () => Date;
  write: (piece: string) => Promise<void>;
}

export interface Exported {
  bytes: number;
  messages: number;
  sagas: number;
  /** What did not fit, in words. Empty when everything is there. */
  cut: string[];
}

const readTimeline = async (ask: Ask, sessionId: string): Promise<TimelineAnswer> => {
  const first = await ask('timeline', { sessionId, limit: 200 });
  const checkpoints = [...first.checkpoints];
  for (let { cursor } = first; cursor !== undefined; ) {
    const next = await ask('timeline', { sessionId, limit: 200, cursor });
    checkpoints.push(...next.checkpoints);
    ({ cursor } = next);
  }
  return { ...first, checkpoints, cursor: undefined };
};

interface Outside {
  sagas: SagaSummary[];
  effects: SessionEffect[];
}

const readSagas = async (ask: Ask, sessionId: string): Promise<Outside> => {
  const sagas: SagaSummary[] = [];
  const effects: SessionEffect[] = [];
  let cursor: string | undefined;
  do {
    const page: SagasAnswer = await ask('list-sagas', {
      sessionId,
      subject: true,
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    sagas.push(...page.sagas);
    effects.push(...(page.effects ?? []));
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { sagas, effects };
};

/** The anchors of the file: numbers, so that no id must be made safe. */
const anchors = (kind: string, ids: readonly string[]): ((id: string) => string) => {
  const places = new Map(ids.map((id, index) => [id, `${kind}-${index + 1}`]));
  return (id) => places.get(id) ?? '';
};

const head = (title: string): Markup => {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  // The style is ours and needs no escaping. Only its hash is allowed by the policy.
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'" />
<meta name="referrer" content="no-referrer" /><meta name="viewport" content="width=device-width, initial-scale=1" /><meta name="color-scheme" content="light dark" />
<title>${title}</title>`;
};

const messagePart = (
  message: TimelineMessage,
  headSeq: number,
  id: string,
  changes: readonly CheckpointChanges[] | undefined,
  outside: Outside,
  toSaga: (sagaId: string) => string,
): Markup => {
  const room = roomFor(`${id}-file`);
  const { messageId } = message;
  // The tree has the files that this has shown.
  const calls = callsPart(changes ?? [], { room, messageId, headSeq });
  return html`<section id="${id}" class="message"><h2>${shown(message.title ?? messageId)} ${message.discarded ? badge('left behind by a rollback', 'calm') : NOTHING}</h2>
    <p class="meta">${shown(message.role)} ${ident(messageId)}</p>${messageText(changes ?? [])}
    <div class="beside"><div class="side">${fileTreePart(room.files)}${outsidePart(outside, toSaga)}</div><div>${changes === undefined ? html`<p class="empty">Its checkpoints have expired.</p>` : calls}</div></div></section>`;
};

const sagaPart = async (ask: Ask, saga: SagaSummary, id: string): Promise<Markup> => {
  const { entries = [], cursor } = await ask('query-ledger', { sagaId: saga.sagaId, limit: 500 });
  return html`<section id="${id}"><h2>${shown(sagaTitle(saga))} ${badge(saga.status)}</h2>
    ${facts([
      ['Id', ident(saga.sagaId)],
      ['Template', shown(saga.definition ?? 'no template')],
      ['Asked for by', shown(saga.requestedBy)],
      ['Began', time(saga.createdAt)],
      ['Last change', time(saga.updatedAt)],
    ])}${entryRows(entries)}${cursor === undefined ? NOTHING : html`<p class="cut">Cut here, after the first ${plural(entries.length, 'entry', 'entries')}.</p>`}</section>`;
};

export const exportSession = async (options: ExportOptions): Promise<Exported> => {
  const { ask, isNotFound, sessionId, maxBytes, now } = options;
  const [timeline, { sagas, effects }] = await Promise.all([
    readTimeline(ask, sessionId),
    readSagas(ask, sessionId),
  ]);
  const { session, messages, checkpoints } = timeline;
  const toMessage = anchors(
    'message',
    messages.map(({ messageId }) => messageId),
  );
  const toSaga = anchors(
    'saga',
    sagas.map((one) => one.sagaId),
  );
  const told: Exported = { bytes: 0, messages: 0, sagas: 0, cut: [] };
  /** Writes a part. False: it would be too much, and nothing was written. */
  const put = async (markup: Markup): Promise<boolean> => {
    const piece = String(await markup);
    const bytes = Buffer.byteLength(piece);
    if (told.bytes + bytes > maxBytes) return false;
    await options.write(piece);
    told.bytes += bytes;
    return true;
  };
  /** Writes what must be there: the frame, and what was cut. */
  const must = async (markup: Markup | string): Promise<void> => {
    const piece = String(await markup);
    await options.write(piece);
    told.bytes += Buffer.byteLength(piece);
  };
  await must(head(`Session ${sessionId}`));
  await must(`<style>${STYLE}</style></head><body>`);
  await must(
    html`<main class="wide"><h1>Session ${shown(sessionId)}</h1>${facts([
      ['Agent', shown(session.metadata['agent'] ?? session.metadata['name'] ?? 'not said')],
      ...(session.project === undefined ? [] : [['Project', shown(session.project)] as const]),
      ['Repositories below', shown(session.projectsRoot)],
      ['Head', session.headSeq > 0 ? html`<code>${shortCheckpointId(session.headSeq)}</code>` : 'none'],
      ['Started', time(session.createdAt)],
      ['Written', time(now().toISOString())],
    ])}`,
  );
  await must(
    '<div class="split"><aside aria-label="Messages"><a class="skip" href="#content">Skip to the content</a>',
  );
  if (!(await put(timelinePart(timeline, undefined, (id) => `#${toMessage(id)}`))))
    told.cut.push('the timeline');
  await must(
    html`<p class="meta">${plural(messages.length, 'message')}, ${plural(checkpoints.length, 'checkpoint')}, ${plural(sagas.length, 'saga')}</p>`,
  );
  await must('</aside><div id="content" tabindex="-1">');
  for (const message of messages) {
    const { messageId } = message;
    const changes = await readChanges(ask, sessionId, messageId, isNotFound);
    const of = { sagas, effects: effects.filter((one) => one.messageId === messageId) };
    if (
      !(await put(
        messagePart(message, session.headSeq, toMessage(messageId), changes, of, (id) => `#${toSaga(id)}`),
      ))
    )
      break;
    told.messages += 1;
  }
  for (const saga of sagas) {
    if (!(await put(await sagaPart(ask, saga, toSaga(saga.sagaId))))) break;
    told.sagas += 1;
  }
  const left = messages.length - told.messages;
  const leftSagas = sagas.length - told.sagas;
  if (left > 0) told.cut.push(plural(left, 'message'));
  if (leftSagas > 0) told.cut.push(plural(leftSagas, 'saga'));
  if (told.cut.length > 0) {
    // The targets of links.
    const places = [
      ...messages.slice(told.messages).map(({ messageId }) => toMessage(messageId)),
      ...sagas.slice(told.sagas).map(({ sagaId }) => toSaga(sagaId)),
    ];
    await must(
      html`<section class="card warn"><h2>${places.map((id) => html`<i id="${id}"></i>`)}Cut here</h2><p>The file would be too large with all of it. Not in it:</p>${list(told.cut)}</section>`,
    );
  }
  await must('</div></div></main></body></html>\n');
  return told;
};

/** Undefined: its checkpoints have expired. */
const readChanges = async (
  ask: Ask,
  sessionId: string,
  messageId: string,
  isNotFound: (error: unknown) => boolean,
): Promise<CheckpointChanges[] | undefined> => {
  const checkpoints: CheckpointChanges[] = [];
  let cursor: string | undefined;
  try {
    do {
      const page = await ask('changes', {
        sessionId,
        messageId,
        ...(cursor === undefined ? {} : { cursor }),
      });
      checkpoints.push(...page.checkpoints);
      ({ cursor } = page);
    } while (cursor !== undefined);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  return checkpoints;
};
