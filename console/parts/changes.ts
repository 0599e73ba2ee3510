/** What one checkpoint holds beside the one before it: the message, the tool, files with counts, branches and patches. */
import { html } from 'hono/html';
import { plural, printableLine } from '../../cli/terminal/text.ts';
import { hostLines } from '../../cli/view/host-lines.ts';
import { shortCheckpointId } from '../../cli/view/timeline-rows.ts';
import type { CheckpointChanges, FileChange } from '../../contract/change-answers.ts';
import { badge, block, list, type Markup, NOTHING, shown, table } from './markup.ts';
import { patchLines } from './patch.ts';

type Repository = CheckpointChanges['repositories'][number];

const numbers = ({ added, deleted, binary }: FileChange): string =>
  binary ? 'binary' : added === null || deleted === null ? 'not counted' : `+${added} -${deleted}`;

const repositoryPart = (checkpointId: string, one: Repository): Markup => {
  const { path, change, counts, files, host, patch, truncated, note } = one;
  const total =
    counts?.added == null || counts.deleted === null ? NOTHING : html`+${counts.added} -${counts.deleted}`;
  const name = printableLine(path);
  return html`<h3>${shown(path)} ${change === 'changed' ? NOTHING : badge(change, 'ask')} ${total}</h3>
    ${list(hostLines(host).map((line) => shown(line)))}
    ${note === undefined ? NOTHING : html`<p class="hint">${shown(note)}</p>`}
    ${table(
      `Files of ${name} in ${checkpointId}`,
      [
        { title: 'File', cell: (file) => shown(file.path) },
        {
          title: 'Change',
          cell: (file) => (file.from === undefined ? file.change : html`was ${shown(file.from)}`),
        },
        { title: 'Lines', isNumber: true, cell: numbers },
      ],
      files,
      'No file changed.',
    )}
    ${patch === '' ? NOTHING : html`<details><summary>Patch${truncated ? ' (cut)' : ''}</summary>${patchLines(patch, `${name} in ${checkpointId}`)}</details>`}`;
};

export const changesPart = (one: CheckpointChanges): Markup =>
  html`<section class="card"><h2><code>${shortCheckpointId(one.seq)}</code> ${shown(one.message?.title ?? one.tool?.name)}</h2>
    ${one.message?.text === undefined ? NOTHING : html`<p>${shown(one.message.role)}:</p>${block(one.message.text)}`}
    ${one.tool === undefined ? NOTHING : html`<p>Before the tool ${shown(one.tool.name)}</p>${one.tool.input === undefined ? NOTHING : html`<details><summary>Its input${one.tool.truncated ? ' (cut)' : ''}</summary>${block(one.tool.input)}</details>`}`}
    ${one.repositories.length === 0 ? html`<p class="empty">${plural(0, 'repository', 'repositories')} changed.</p>` : one.repositories.map((repository) => repositoryPart(one.checkpointId, repository))}
    ${list(one.warnings.map((line) => shown(line)))}</section>`;
