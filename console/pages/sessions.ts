/** Finding a session. */
import { html } from 'hono/html';
import type { ListedSession } from '../../contract/checkpoint-answers.ts';
import type { SagaSummary } from '../../contract/saga-lists.ts';
import { OPEN_STATUSES } from '../../core/saga/model/head.ts';
import { plural } from '../../core/shared/plural.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import type { Show, Visit } from '../context.ts';
import { failedData, failedPart, further } from '../further.ts';
import { counts } from '../parts/counts.ts';
import { badge, link, type Markup, NOTHING, path, query, shown, table, time } from '../parts/markup.ts';
import { showLedger } from './ledger.ts';

const PAGE = 50;
/** Sessions are stored in no order, so this many are read to sort and search them. */
const MOST_READ = 1_000;

const MOST_OPEN = 100;

const readSessions = async ({ ask }: Visit): Promise<{ sessions: ListedSession[]; hasMore: boolean }> => {
  const sessions: ListedSession[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask('list-sessions', { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    sessions.push(...page.sessions);
    ({ cursor } = page);
  } while (cursor !== undefined && sessions.length < MOST_READ);
  return { sessions, hasMore: cursor !== undefined };
};

type BySession = Map<string, SagaSummary[]>;

const readOpenSagas = async ({ ask }: Visit): Promise<BySession> => {
  const found: BySession = new Map();
  const pages = await Promise.all(
    OPEN_STATUSES.map((status) => ask('list-sagas', { status, subject: true, limit: MOST_OPEN })),
  );
  for (const saga of pages.flatMap(({ sagas }) => sagas)) {
    if (saga.sessionId === undefined || saga.parent !== undefined) continue;
    found.set(saga.sessionId, [...(found.get(saga.sessionId) ?? []), saga]);
  }
  return found;
};

const sagaCell = (sagas: readonly SagaSummary[] = []): Markup =>
  html`${sagas.slice(0, 3).map((one) => html`${link(path('sagas', one.sagaId), sagaTitle(one))} ${badge(one.status)}<br />`)}${sagas.length > 3 ? html`<span class="hint">and ${sagas.length - 3} more</span>` : NOTHING}`;

/** The sum of the lines of its messages, which its page shows. */
const linesCell = ({ sessionId, lines }: ListedSession): Markup =>
  lines.added + lines.deleted === 0
    ? NOTHING
    : html`<a class="plain" href="${path('sessions', sessionId)}">${counts(lines)}</a>`;

const agentOf = ({ metadata }: ListedSession): string => metadata['agent'] ?? metadata['name'] ?? '';

const fits = (session: ListedSession, words: string): boolean =>
  [
    session.sessionId,
    session.projectsRoot,
    session.sandboxId,
    session.project ?? '',
    ...Object.values(session.metadata),
  ].some((text) => text.toLowerCase().includes(words));

/** The first page that a person sees. For finance that is the ledger. */
export const showSessions: Show = async (visit) => {
  try {
    return await sessionsPage(visit);
  } catch (error) {
    if (!visit.isForbidden(error)) throw error;
    return showLedger(visit);
  }
};

const sessionsPage: Show = async (visit) => {
  const { q = '', page = '1' } = visit.query;
  const [{ sessions, hasMore }, open] = await Promise.all([
    readSessions(visit),
    further(visit, readOpenSagas(visit)),
  ]);
  const sagas: BySession = open.read ?? new Map();
  const found = sessions
    .filter((one) => fits(one, q.trim().toLowerCase()))
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const last = Math.max(1, Math.ceil(found.length / PAGE));
  const at = Math.min(last, Math.max(1, Math.trunc(Number(page)) || 1));
  const rows = found.slice((at - 1) * PAGE, at * PAGE);
  const body = html`<form class="filters" method="get" action="/"><div><label for="q">Find</label><input id="q" name="q" type="search" size="36" value="${q}" placeholder="session, agent, project, directory" /></div><button type="submit">Find</button></form>${failedPart('Open sagas', open)}
    ${table(
      'Sessions, last changed first',
      [
        { title: 'Session', cell: ({ sessionId }) => link(path('sessions', sessionId), sessionId) },
        {
          title: 'Status',
          cell: ({ status, busy }) => (busy === null ? badge(status) : badge('at work', 'ask')),
        },
        { title: 'Agent', cell: (one) => shown(agentOf(one)) },
        // Narrow screens have no room for an empty column.
        ...(rows.some(({ project }) => project !== undefined)
          ? [{ title: 'Project', cell: ({ project }: ListedSession) => shown(project ?? '') }]
          : []),
        { title: 'Directory', cell: ({ projectsRoot }) => shown(projectsRoot) },
        { title: 'Repositories', isNumber: true, cell: ({ repositories }) => repositories ?? '' },
        { title: 'Lines', isNumber: true, cell: linesCell },
        { title: 'Checkpoints', isNumber: true, cell: ({ seq }) => seq },
        { title: 'Open sagas', cell: ({ sessionId }) => sagaCell(sagas.get(sessionId)) },
        { title: 'Last change', cell: ({ updatedAt }) => time(updatedAt) },
      ],
      rows,
      q === '' ? 'No session yet. walkback session start begins one.' : 'No session fits.',
    )}
    <p class="hint">${plural(found.length, 'session')}${hasMore ? ` of the first ${sessions.length} that were read; there are more` : ''}.</p>
    <p class="acts">${at > 1 ? html`<a class="button" href="/${query({ q, page: String(at - 1) })}">Newer</a>` : NOTHING}${found.length > at * PAGE ? html`<a class="button" href="/${query({ q, page: String(at + 1) })}">Older</a>` : NOTHING}</p>`;
  const openSagas = rows.flatMap(({ sessionId }) => sagas.get(sessionId) ?? []);
  const data = {
    sessions: rows,
    openSagas,
    found: found.length,
    hasMore,
    ...failedData({ openSagas: open }),
  };
  return { title: 'Sessions', body, data, isWide: true };
};
