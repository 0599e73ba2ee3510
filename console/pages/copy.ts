/** Rebuilds a point of a session in a fresh sandbox, to look at. */

import { html } from 'hono/html';
import { HOUR_MS } from '../../contract/times.ts';
import type { Act } from '../context.ts';
import { facts, link, list, path, query, repositoryName, shown, table } from '../parts/markup.ts';
import { warningsPart } from '../parts/plan-parts.ts';

export const openCopy: Act = async ({ ask, directoryOf, fields, params: { id: sessionId = '' } }) => {
  const { message, checkpoint, request = '' } = fields;
  const target = checkpoint ? { checkpointId: checkpoint } : message ? { messageId: message } : {};
  const copy = await ask('rehydrate', {
    sessionId,
    ...target,
    mode: 'review',
    requestId: request,
    timeoutMs: HOUR_MS,
  });
  const directory = await directoryOf(copy.sandboxId, copy.projectsRoot);
  const compare = query({ from: copy.checkpointId, to: 'now', sandbox: copy.sandboxId });
  return {
    title: 'Review copy',
    body: html`<p class="card done" role="status">A copy of ${shown(message ?? copy.checkpointId)} stands in a sandbox of its own. It ends by itself after an hour, and the session does not notice.</p>
      ${facts([
        ['Sandbox', shown(copy.sandboxId)],
        ['Checkpoint', shown(copy.checkpointId)],
        directory === undefined
          ? ['Directory inside the sandbox', shown(copy.projectsRoot)]
          : ['Directory', shown(directory)],
      ])}
      ${warningsPart(copy.warnings)}
      ${table(
        'Repositories of the copy',
        [
          { title: 'Repository', cell: (one) => repositoryName(one.path) },
          { title: 'Branch', cell: (one) => shown(one.branch ?? (one.head && 'detached')) },
          { title: 'Head', cell: (one) => html`<code>${shown(one.head?.slice(0, 9))}</code>` },
        ],
        copy.repositories,
        'No repository.',
      )}
      ${list([
        link(`${path('sessions', sessionId, 'compare')}${compare}`, 'What was changed in the copy since'),
        html`In a shell: <code>walkback diff ${shown(copy.checkpointId)} now --session ${shown(sessionId)} --sandbox ${shown(copy.sandboxId)}</code>`,
        link(path('sessions', sessionId), 'Back to the session'),
      ])}`,
    data: { ...copy, ...(directory === undefined ? {} : { directory }) },
  };
};
