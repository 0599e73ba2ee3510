/**
 * What one checkpoint changed since the one before it: the message, the tool, files with counts, branches and
 * patches.
 */
import { html } from 'hono/html';
import type { CheckpointChanges, FileChange } from '../../contract/change-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { shortCheckpointId } from '../../present/checkpoint-words.ts';
import { hostLines } from '../../present/host-lines.ts';
import { diffMarkup, type Room } from '../diff/markup.ts';
import { badge, block, link, list, type Markup, NOTHING, repositoryName, shown, table } from './markup.ts';
import { withoutCommands } from './without-commands.ts';

type Repository = CheckpointChanges['repositories'][number];

const numbers = ({ added, deleted, binary }: FileChange): Markup | string =>
  binary
    ? 'not text, or over 4 MiB'
    : added === null || deleted === null
      ? 'not counted'
      : html`<span class="counts"><ins>+${added}</ins> <del>−${deleted}</del></span>`;

const MOST_FILES = 200;

/** Files without lines to show: binary ones, renamed ones, or ones whose patch was not kept. */
const filesPart = (name: string, files: readonly FileChange[], isShownBelow: boolean): Markup =>
  html`<details${files.length <= 8 && !isShownBelow ? html` open` : NOTHING}><summary>${plural(files.length, 'file')}</summary>${table(
    name,
    [
      { title: 'File', cell: (file) => shown(file.path) },
      {
        title: 'Change',
        cell: (file) => (file.from === undefined ? file.change : html`was ${shown(file.from)}`),
      },
      { title: 'Lines', isNumber: true, cell: numbers },
    ],
    files.slice(0, MOST_FILES),
    'No file changed.',
  )}${files.length > MOST_FILES ? html`<p class="cut">Cut here: ${plural(files.length - MOST_FILES, 'more file')}.</p>` : NOTHING}</details>`;

const repositoryPart = (
  checkpointId: string,
  one: Repository,
  room: Room,
  alone: string | undefined,
): Markup => {
  const { path, change, counts, files, host, patch, truncated, note } = one;
  const total =
    counts?.added == null || counts.deleted === null
      ? NOTHING
      : html`<span class="counts"><ins>+${counts.added}</ins> <del>−${counts.deleted}</del></span>`;
  const isFull = room.lines <= 0;
  return html`<section class="repository"><h3>${repositoryName(path)} ${change === 'changed' ? NOTHING : badge(change, 'ask')} ${total}</h3>
    ${list(hostLines(host).map((line) => shown(line)))}
    ${note === undefined ? NOTHING : html`<p class="hint">${shown(note)}</p>`}
    ${files.length === 0 ? NOTHING : filesPart(`Files of ${path} in ${checkpointId}`, files, patch !== '' && !truncated && !isFull)}
    ${patch === '' ? NOTHING : isFull ? html`<p class="cut">Cut here, so that the page stays small${alone === undefined ? '' : html`: ${link(alone, 'show this repository alone')}`}.</p>` : diffMarkup(patch, path, room)}
    ${truncated ? html`<p class="cut">Cut when it was kept: it was larger than 1 MiB.</p>` : NOTHING}</section>`;
};

/** `alone`: only one repository is shown, with more room. */
export const changesPart = (
  one: CheckpointChanges,
  room: Room,
  alone?: (repository: string) => string,
): Markup =>
  html`<section class="checkpoint"><h2><code>${shortCheckpointId(one.seq)}</code> ${one.tool === undefined ? shown(one.message?.title ?? one.reason) : html`before ${shown(one.tool.name)}`}</h2>
    ${one.message?.text === undefined ? NOTHING : html`<p class="meta">${shown(one.message.role)} wrote${one.message.truncated ? ' (cut)' : ''}</p>${block(one.message.text)}`}
    ${one.tool?.input === undefined ? NOTHING : html`<details><summary>Input of ${shown(one.tool.name)}${one.tool.truncated ? ' (cut)' : ''}</summary>${block(one.tool.input)}</details>`}
    ${one.repositories.length === 0 ? html`<p class="empty">No repository changed since the checkpoint before it.</p>` : one.repositories.map((repository) => repositoryPart(one.checkpointId, repository, room, alone?.(repository.path)))}
    ${list(one.warnings.map((line) => shown(withoutCommands(line))))}</section>`;
