import { html } from 'hono/html';
import { plural } from '../../cli/terminal/text.ts';
import type { Show } from '../context.ts';
import { badge, link, NOTHING, path, query, shown, table, time } from '../parts/markup.ts';

const PAGE = 50;

export const showSessions: Show = async ({ ask, query: { cursor } }) => {
  const answer = await ask('list-sessions', { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
  const rows = table(
    'Sessions, newest first',
    [
      { title: 'Session', cell: ({ sessionId }) => link(path('sessions', sessionId), sessionId) },
      {
        title: 'Status',
        cell: ({ status, busy }) => (busy === null ? badge(status) : badge(busy.kind, 'ask')),
      },
      { title: 'Repositories below', cell: ({ projectsRoot }) => shown(projectsRoot) },
      { title: 'Agent', cell: ({ metadata }) => shown(metadata['agent'] ?? metadata['name']) },
      { title: 'Checkpoints', isNumber: true, cell: ({ seq }) => seq },
      { title: 'Last change', cell: ({ updatedAt }) => time(updatedAt) },
    ],
    answer.sessions,
    'No session yet. walkback session start begins one.',
  );
  const more =
    answer.cursor === undefined
      ? NOTHING
      : html`<p><a href="/${query({ cursor: answer.cursor })}">Older sessions</a></p>`;
  return {
    title: 'Sessions',
    body: html`<p class="hint">${plural(answer.sessions.length, 'session')} on this page. Times are UTC.</p>${rows}${more}`,
    data: answer,
  };
};
