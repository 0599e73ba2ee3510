/**
 * Looks for messages, tool calls, files, references and amounts. Words of sessions are found by an index; of sagas the newest are
 * read. The page says how far it looked.
 */
import { html } from 'hono/html';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { SagaSummary } from '../../contract/saga-lists.ts';
import { MOST_SEARCHED, type SearchSessionsAnswer } from '../../contract/search-sessions.ts';
import { plural } from '../../core/shared/plural.ts';
import { cutWords, foundCallWords } from '../../present/found-words.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import type { Show, Visit } from '../context.ts';
import { failedData, failedPart, further } from '../further.ts';
import { entryRows } from '../parts/ledger-tables.ts';
import { badge, link, type Markup, NOTHING, path, query, shown, table, time } from '../parts/markup.ts';
import { findSagas } from '../search.ts';

const MOST_SAGAS = 200;
const MOST_SHOWN = 50;

type FoundMessage = SearchSessionsAnswer['messages'][number];
type FoundCall = SearchSessionsAnswer['calls'][number];

const readSagas = async ({ ask }: Visit): Promise<{ sagas: SagaSummary[]; hasMore: boolean }> => {
  const { sagas, cursor } = await ask('list-sagas', { subject: true, limit: MOST_SAGAS });
  return { sagas, hasMore: cursor !== undefined };
};

const byReference = async ({ ask }: Visit, q: string): Promise<LedgerRow[]> =>
  (await ask('query-ledger', { externalRef: q, limit: MOST_SHOWN })).entries ?? [];

const part = <Row>(
  title: string,
  columns: Parameters<typeof table<Row>>[1],
  rows: readonly Row[],
  more = 0,
): Markup => {
  const left = Math.max(0, rows.length - MOST_SHOWN) + more;
  return rows.length === 0
    ? NOTHING
    : html`<h2>${title} <span class="hint">${rows.length + more}</span></h2>${table(title, columns, rows.slice(0, MOST_SHOWN), '')}${left > 0 ? html`<p class="cut">Cut here: ${left} more. Give more words.</p>` : NOTHING}`;
};

const toMessage = ({ sessionId, messageId, title = messageId }: FoundMessage | FoundCall): Markup =>
  link(`${path('sessions', sessionId)}${query({ message: messageId })}`, title);

const searchForm = (q: string): Markup =>
  html`<form class="filters" method="get" action="/search" role="search"><div><label for="q">Words</label><input id="q" name="q" type="search" size="44" maxlength="${MOST_SEARCHED}" value="${q}" placeholder="message, command, path, reference, amount" /></div><button type="submit">Search</button></form>`;

const NOTHING_FOUND = {
  messages: [],
  moreMessages: 0,
  calls: [],
  moreCalls: 0,
  looked: { checkpoints: 0, cut: 0, sessions: 0 },
} satisfies SearchSessionsAnswer;

/** How far the search went, and the way on. */
const howFar = (q: string, { looked, lookedBackTo, cursor }: SearchSessionsAnswer, sagas: string): Markup =>
  html`<p class="hint">Looked through ${plural(looked.checkpoints, 'checkpoint')} of ${plural(looked.sessions, 'session')}${cutWords(looked)}${
    lookedBackTo === undefined || cursor === undefined
      ? NOTHING
      : html` since ${time(lookedBackTo)} (${link(`/search${query({ q, cursor })}`, 'look further back')})`
  }, ${sagas}, and the ledger for exactly this reference. Work of the last seconds may be missing.</p>`;

export const showSearch: Show = async (visit) => {
  const { ask } = visit;
  const q = (visit.query['q'] ?? '').trim().slice(0, MOST_SEARCHED);
  const { cursor } = visit.query;
  if (q === '') return { title: 'Search', body: searchForm(q), data: {} };
  const asked = { words: q, limit: MOST_SHOWN, ...(cursor !== undefined && { cursor }) };
  // A part that the person may not see is left out.
  const [inSessions, inSagas, inLedger] = await Promise.all([
    further(visit, ask('search-sessions', asked)),
    further(visit, readSagas(visit)),
    further(visit, byReference(visit, q)),
  ]);
  const { read: words = NOTHING_FOUND } = inSessions;
  const { sagas, hasMore } = inSagas.read ?? { sagas: [], hasMore: false };
  const { read: entries = [] } = inLedger;
  const { messages, calls } = words;
  const found = { messages, calls, sagas: findSagas(sagas, q), entries };
  const count = Object.values(found).reduce((sum, { length }) => sum + length, 0);
  const failed = { sessions: inSessions, sagas: inSagas, entries: inLedger };
  const body = html`${searchForm(q)}
    ${failedPart('Sessions', inSessions)}${failedPart('Sagas', inSagas)}${failedPart('The ledger', inLedger)}
    ${count === 0 ? html`<p class="empty">${Object.keys(failedData(failed)).length === 0 ? 'Nothing was found.' : 'Nothing was found in what could be read.'}</p>` : NOTHING}
    ${part(
      'Messages',
      [
        {
          title: 'Message',
          cell: (one) =>
            html`${toMessage(one)}${one.excerpt === undefined ? NOTHING : html`<p class="hint">${shown(one.excerpt)}</p>`}`,
        },
        { title: 'By', cell: ({ role }) => shown(role) },
        { title: 'Session', cell: ({ sessionId }) => link(path('sessions', sessionId), sessionId) },
        { title: 'When', cell: ({ at }) => time(at) },
      ],
      messages,
      words.moreMessages,
    )}
    ${part(
      'Tool calls and files',
      [
        { title: 'Found', cell: (one) => shown(foundCallWords(one)) },
        { title: 'Message', cell: toMessage },
        { title: 'Session', cell: ({ sessionId }) => link(path('sessions', sessionId), sessionId) },
        { title: 'When', cell: ({ at }) => time(at) },
      ],
      calls,
      words.moreCalls,
    )}
    ${part(
      'Sagas',
      [
        { title: 'Saga', cell: (one) => link(path('sagas', one.sagaId), sagaTitle(one)) },
        { title: 'Status', cell: ({ status }) => badge(status) },
        { title: 'Last change', cell: ({ updatedAt }) => time(updatedAt) },
      ],
      found.sagas,
    )}
    ${entries.length === 0 ? NOTHING : html`<h2>Ledger entries with this reference</h2>${entryRows(entries, true, visit.zone)}`}
    ${howFar(q, words, `${plural(sagas.length, 'saga')}${hasMore ? ' of more' : ''}`)}`;
  return {
    title: 'Search',
    body,
    data: { ...words, sagas: found.sagas, entries, ...failedData(failed) },
    isWide: true,
  };
};
