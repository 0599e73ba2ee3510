/**
 * Looks for messages, tool calls, files, references and amounts. No index is behind it: the newest sessions,
 * messages and sagas are read, and the page says how many.
 */
import { html } from 'hono/html';
import type { ListedSession } from '../../contract/checkpoint-answers.ts';
import type { LedgerRow, SagaSummary } from '../../contract/saga-answers.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { plural } from '../../core/shared/plural.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import type { Show, Visit } from '../context.ts';
import { failedData, failedPart, further } from '../further.ts';
import { entryRows } from '../parts/ledger-tables.ts';
import { badge, link, type Markup, NOTHING, path, query, shown, table, time } from '../parts/markup.ts';
import { findCalls, findMessages, findSagas, type ReadCall, type ReadSession } from '../search.ts';

const MOST_SESSIONS = 40;
const MOST_LISTED = 1_000;
const MOST_SAGAS = 200;
/** Messages whose calls and files are read, the newest first. */
const MOST_READ = 40;
const AT_ONCE = 8;
const MOST_SHOWN = 50;

/** The sessions that changed last. */
const newestSessions = async ({ ask }: Visit): Promise<ListedSession[]> => {
  const found: ListedSession[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask('list-sessions', { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.sessions);
    ({ cursor } = page);
  } while (cursor !== undefined && found.length < MOST_LISTED);
  return found.toSorted((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1)).slice(0, MOST_SESSIONS);
};

const readSession = async ({ ask, isNotFound }: Visit, session: ListedSession): Promise<ReadSession[]> => {
  try {
    // Not brief: without rollbacks, one page of one checkpoint reads no other checkpoint.
    const { messages } = await ask('timeline', { sessionId: session.sessionId, limit: 1 });
    return [{ session, messages }];
  } catch (error) {
    // It expired since it was listed.
    if (isNotFound(error)) return [];
    throw error;
  }
};

/** What the newest messages ran and changed. */
const readCalls = async ({ ask, isNotFound }: Visit, read: readonly ReadSession[]): Promise<ReadCall[]> => {
  const newest = read
    .flatMap(({ session: { sessionId }, messages }) =>
      messages.toReversed().map(({ messageId, title = messageId }) => ({ sessionId, messageId, title })),
    )
    .slice(0, MOST_READ);
  const found = await mapAtOnce(newest, AT_ONCE, async (one) => {
    try {
      const { checkpoints } = await ask('changes', { sessionId: one.sessionId, messageId: one.messageId });
      return checkpoints.map((change) => ({ ...one, change }));
    } catch (error) {
      // Its checkpoints have expired.
      if (isNotFound(error)) return [];
      throw error;
    }
  });
  return found.flat();
};

const readSagas = async ({ ask }: Visit): Promise<{ sagas: SagaSummary[]; hasMore: boolean }> => {
  const { sagas, cursor } = await ask('list-sagas', { subject: true, limit: MOST_SAGAS });
  return { sagas, hasMore: cursor !== undefined };
};

const byReference = async ({ ask }: Visit, q: string): Promise<LedgerRow[]> =>
  (await ask('query-ledger', { externalRef: q, limit: MOST_SHOWN })).entries ?? [];

const part = <Row>(title: string, columns: Parameters<typeof table<Row>>[1], rows: readonly Row[]): Markup =>
  rows.length === 0
    ? NOTHING
    : html`<h2>${title} <span class="hint">${rows.length}</span></h2>${table(title, columns, rows.slice(0, MOST_SHOWN), '')}${rows.length > MOST_SHOWN ? html`<p class="cut">Cut here: ${plural(rows.length - MOST_SHOWN, 'more')}. Give more words.</p>` : NOTHING}`;

const toMessage = (one: { sessionId: string; messageId: string; title: string }): Markup =>
  link(`${path('sessions', one.sessionId)}${query({ message: one.messageId })}`, one.title);

const searchForm = (q: string): Markup =>
  html`<form class="filters" method="get" action="/search" role="search"><div><label for="q">Words</label><input id="q" name="q" type="search" size="44" maxlength="200" value="${q}" placeholder="message, command, path, reference, amount" /></div><button type="submit">Search</button></form>`;

export const showSearch: Show = async (visit) => {
  const q = (visit.query['q'] ?? '').trim().slice(0, 200);
  if (q === '') return { title: 'Search', body: searchForm(q), data: {} };
  const reading = newestSessions(visit).then(async (sessions) =>
    (await mapAtOnce(sessions, AT_ONCE, (one) => readSession(visit, one))).flat(),
  );
  // A part that the person may not see is left out.
  const [inMessages, inSagas, inLedger] = await Promise.all([
    further(visit, reading),
    further(visit, readSagas(visit)),
    further(visit, byReference(visit, q)),
  ]);
  const { read = [] } = inMessages;
  const { sagas, hasMore } = inSagas.read ?? { sagas: [], hasMore: false };
  const { read: entries = [] } = inLedger;
  const inCalls = await further(visit, readCalls(visit, read));
  const { read: calls = [] } = inCalls;
  const found = {
    messages: findMessages(read, q),
    calls: findCalls(calls, q),
    sagas: findSagas(sagas, q),
    entries,
  };
  const count = Object.values(found).reduce((sum, { length }) => sum + length, 0);
  const messages = read.reduce((sum, one) => sum + one.messages.length, 0);
  const failed = { messages: inMessages, calls: inCalls, sagas: inSagas, entries: inLedger };
  const body = html`${searchForm(q)}
    ${failedPart('Messages', inMessages)}${failedPart('Calls and files', inCalls)}${failedPart('Sagas', inSagas)}${failedPart('The ledger', inLedger)}
    ${count === 0 ? html`<p class="empty">${Object.keys(failedData(failed)).length === 0 ? 'Nothing was found.' : 'Nothing was found in what could be read.'}</p>` : NOTHING}
    ${part(
      'Messages',
      [
        { title: 'Message', cell: toMessage },
        { title: 'By', cell: ({ role }) => shown(role) },
        { title: 'Session', cell: ({ sessionId }) => link(path('sessions', sessionId), sessionId) },
      ],
      found.messages,
    )}
    ${part(
      'Tool calls and files',
      [
        { title: 'Found', cell: ({ words }) => shown(words) },
        { title: 'Message', cell: toMessage },
      ],
      found.calls,
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
    <p class="hint">Looked at ${plural(messages, 'message')} of the ${plural(read.length, 'session')} that changed last, calls and files of the newest ${Math.min(messages, MOST_READ)}, ${plural(sagas.length, 'saga')}${hasMore ? ' of more' : ''}, and the ledger for exactly this reference.</p>`;
  return { title: 'Search', body, data: { ...found, ...failedData(failed) }, isWide: true };
};
