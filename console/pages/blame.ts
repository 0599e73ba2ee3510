/** Who wrote each line of a file: the message and tool call beside its lines, or the commit from before the session. */
import { html } from 'hono/html';
import { blameAnywhere } from '../../client/blame-copy.ts';
import type { BlameAnswer, BlameOrigin } from '../../contract/blame.ts';
import type { TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import {
  leftWords,
  originMaker,
  originPlace,
  originTime,
  originTitle,
  shownWords,
} from '../../present/blame-words.ts';
import type { Show, Visit } from '../context.ts';
import { blameMarkup } from '../diff/blame-markup.ts';
import { link, type Markup, NOTHING, path, query, shown, time } from '../parts/markup.ts';
import { warningsPart } from '../parts/plan-parts.ts';
import { POINTS, pointsOf } from '../parts/points.ts';
import { blamePath, widerPath } from '../parts/wider.ts';

const filters = ({ query: asked }: Visit, timeline: TimelineAnswer): Markup => {
  const { file = '', repository = '', at = '', sandbox } = asked;
  return html`<form class="filters" method="get"><div><label for="file">File</label><input id="file" name="file" required value="${file}" /></div>
    <div><label for="repository">Repository</label><input id="repository" name="repository" placeholder="where it is" value="${repository}" /></div>
    <div><label for="at">At</label><input id="at" name="at" list="points" placeholder="now" value="${at}" /></div>
    ${sandbox ? html`<input type="hidden" name="sandbox" value="${sandbox}" />` : NOTHING}
    <button type="submit">Show who wrote it</button></form>${pointsOf(timeline, { withNow: true })}`;
};

/** The place leads to the change itself, where there is one. */
const placePart = (origin: BlameOrigin, { sessionId, repository, path: file, at }: BlameAnswer): Markup => {
  const words = originPlace(origin, sessionId);
  const named = origin.path ?? file;
  if (origin.kind === 'checkpoint' && origin.previousCheckpointId !== null) {
    const points = { from: origin.previousCheckpointId, to: origin.checkpointId };
    return link(widerPath(origin.sessionId, points, repository, named), words);
  }
  if (origin.kind === 'now' && at.isNow)
    return link(widerPath(sessionId, { from: 'head', to: 'now' }, repository, named), words);
  return html`<code>${shown(words)}</code>`;
};

const titlePart = (origin: BlameOrigin, of: string): Markup => {
  const title = originTitle(origin);
  const messageId = 'messageId' in origin ? origin.messageId : null;
  if (messageId === null) return shown(title);
  const session = origin.kind === 'checkpoint' ? origin.sessionId : of;
  return link(`${path('sessions', session)}${query({ message: messageId })}`, title);
};

const marginPart = (origin: BlameOrigin | undefined, answer: BlameAnswer): Markup => {
  if (origin === undefined) return NOTHING;
  const maker = originMaker(origin);
  return html`${placePart(origin, answer)} <strong>${titlePart(origin, answer.sessionId)}</strong> ${time(originTime(origin))}${
    maker === '' ? NOTHING : html`<br />${shown(maker)}`
  }${origin.path === undefined ? NOTHING : html`<br />as ${shown(origin.path)}`}`;
};

const lineIn = (asked: string | undefined): number =>
  Math.min(100_000_000, Math.max(1, Math.trunc(Number(asked)) || 1));

export const showBlame: Show = async (visit) => {
  const { ask, query: asked, params, request: requestId = asked['request'] } = visit;
  const sessionId = params['id'] ?? '';
  const timeline = await ask('timeline', { sessionId, limit: POINTS, brief: true });
  const back = html`<p>${link(path('sessions', sessionId), 'Back to the session')}</p>`;
  const { file, repository, at, sandbox } = asked;
  if (!file) {
    return { title: 'Who wrote this line?', body: html`${filters(visit, timeline)}${back}`, data: timeline };
  }
  const from = lineIn(asked['from']);
  const answer = await blameAnywhere(
    {
      blame: (request) => ask('blame', request),
      rehydrate: (request) => ask('rehydrate', request),
      freshId: (prefix) => `console-${prefix}-${crypto.randomUUID()}`,
    },
    {
      sessionId,
      path: file,
      ...(repository ? { repository } : {}),
      ...(at ? { at } : {}),
      ...(from > 1 ? { lines: { from } } : {}),
      ...(sandbox ? { sandboxId: sandbox } : {}),
      ...(requestId ? { requestId } : {}),
    },
  );
  const page = (line: number | undefined): string =>
    blamePath(sessionId, {
      file: answer.path,
      repository: answer.repository,
      at,
      sandbox,
      from: line === undefined ? undefined : String(line),
    });
  return {
    title: `Who wrote ${answer.path}`,
    body: html`${filters(visit, timeline)}${warningsPart(answer.warnings)}
      <p class="hint">${shown(shownWords(answer))}: ${leftWords(answer)}. ${from > 1 ? link(page(undefined), 'From the first line') : NOTHING}</p>
      ${answer.lines.length === 0 ? html`<p class="empty">The file is empty.</p>` : blameMarkup(answer, (origin) => marginPart(answer.origins[origin], answer))}
      ${answer.nextLine === undefined ? NOTHING : html`<p class="cut">Cut here: ${link(page(answer.nextLine), `from line ${answer.nextLine} on`)}.</p>`}${back}`,
    data: answer,
    isWide: true,
  };
};
