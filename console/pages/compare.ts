/** Compares any two points of a session, in all repositories. */
import { html } from 'hono/html';
import { diffAnywhere } from '../../client/diff-copy.ts';
import type { DiffAnswer } from '../../contract/change-answers.ts';
import type { TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { doesDiffer } from '../../present/checkpoint-words.ts';
import { hostLines } from '../../present/host-lines.ts';
import type { Show, Visit } from '../context.ts';
import { diffMarkup, type LinksOf, type Room, roomFor } from '../diff/markup.ts';
import {
  badge,
  link,
  list,
  type Markup,
  NOTHING,
  path,
  query,
  repositoryName,
  shown,
} from '../parts/markup.ts';
import { warningsPart } from '../parts/plan-parts.ts';
import { POINTS, pointsOf } from '../parts/points.ts';
import { blamePath, contextIn, contextsPart, fileLinks, widerPath } from '../parts/wider.ts';

/** Most lines of a file that is shown alone. */
const MOST_OF_FILE = 4_000;

const filters = ({ query: { from, to, repository, sandbox } }: Visit, timeline: TimelineAnswer): Markup =>
  html`<form class="filters" method="get"><div><label for="from">From</label><input id="from" name="from" list="points" required value="${from ?? ''}" /></div>
    <div><label for="to">To</label><input id="to" name="to" list="points" required value="${to ?? 'head'}" /></div>
    <div><label for="repository">Repository</label><input id="repository" name="repository" placeholder="all" value="${repository ?? ''}" /></div>
    ${sandbox ? html`<input type="hidden" name="sandbox" value="${sandbox}" />` : NOTHING}
    <button type="submit">Compare</button></form>${pointsOf(timeline, { withNow: true })}`;

type Repository = DiffAnswer['repositories'][number];

const repositoryPart = (one: Repository, room: Room, alone: string, linksOf: LinksOf): Markup =>
  html`<section><h2>${repositoryName(one.path)} ${one.change === undefined ? NOTHING : badge(one.change, 'ask')} <span class="counts"><ins>+${one.added}</ins> <del>−${one.deleted}</del></span></h2>
    ${list(hostLines(one.host).map((line) => shown(line)))}
    ${one.diff === '' ? NOTHING : room.lines > 0 ? diffMarkup(one.diff, one.path, room, linksOf) : html`<p class="cut">Cut here: ${link(alone, 'show this repository alone')}.</p>`}
    ${one.truncated ? html`<p class="cut">Cut where it was made: ${link(alone, 'compare this repository alone')}.</p>` : NOTHING}</section>`;

export const showComparison: Show = async (visit) => {
  const { ask, query: asked, params, request: requestId = asked['request'] } = visit;
  const sessionId = params['id'] ?? '';
  const timeline = await ask('timeline', { sessionId, limit: POINTS, brief: true });
  const title = `Compare points of ${sessionId}`;
  const back = html`<p>${link(path('sessions', sessionId), 'Back to the session')}</p>`;
  const { from, to = 'head', repository, sandbox, file } = asked;
  const context = contextIn(asked['context']);
  const isFile = Boolean(repository) && Boolean(file);
  if (!from) return { title, body: html`${filters(visit, timeline)}${back}`, data: timeline };
  const answer = await diffAnywhere(
    {
      diff: (request) => ask('diff', request),
      rehydrate: (request) => ask('rehydrate', request),
      rollback: (request) => ask('rollback', request),
      freshId: (prefix) => `console-${prefix}-${crypto.randomUUID()}`,
    },
    {
      sessionId,
      from,
      to,
      ...(repository ? { path: repository } : {}),
      ...(isFile ? { file, context } : {}),
      ...(sandbox ? { sandboxId: sandbox } : {}),
      ...(requestId ? { requestId } : {}),
    },
  );
  const room = isFile ? roomFor('file', MOST_OF_FILE, MOST_OF_FILE) : roomFor();
  const points = { from, to, sandbox };
  const differ = answer.repositories.filter(doesDiffer);
  const alone = (name: string): string =>
    `${path('sessions', sessionId, 'compare')}${query({ from, to, sandbox, repository: name })}`;
  if (repository && file) {
    const [one] = answer.repositories;
    return {
      title: `Compare ${file}`,
      body: html`${filters(visit, timeline)}${warningsPart(answer.warnings)}
        ${contextsPart((lines) => widerPath(sessionId, points, repository, file, lines), context)}
        ${one === undefined || one.diff === '' ? html`<p class="empty">This file does not differ.</p>` : html`<div class="alone">${diffMarkup(one.diff, one.path, room)}</div>`}
        ${one?.truncated === true ? html`<p class="cut">Cut where it was made.</p>` : NOTHING}
        <p>${link(blamePath(sessionId, { file, repository, at: to, sandbox }), 'Who wrote each line of it')}</p>
        <p>${link(alone(repository), 'All files of this repository')}</p>${back}`,
      data: answer,
      isWide: true,
    };
  }
  return {
    title,
    body: html`${filters(visit, timeline)}${warningsPart(answer.warnings)}
      ${asked['request'] ? html`<p class="hint">This answer is kept for 10 minutes under the request in the address. Compare asks anew.</p>` : NOTHING}
      <p class="hint">${differ.length} of ${plural(answer.repositories.length, 'repository', 'repositories')} ${differ.length === 1 ? 'differs' : 'differ'}.</p>
      ${differ.map((one) => repositoryPart(one, room, alone(one.path), (name) => fileLinks(sessionId, points, one.path, name)))}${back}`,
    data: answer,
    isWide: true,
  };
};
