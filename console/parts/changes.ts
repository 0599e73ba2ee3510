/** What one checkpoint changed since the one before it: files with counts, branches and patches. */
import { html } from 'hono/html';
import type { CheckpointChanges, FileChange } from '../../contract/change-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { hostLines } from '../../present/host-lines.ts';
import { diffMarkup, type FileLinks, type LinksOf, type Room } from '../diff/markup.ts';
import { countsOf } from './counts.ts';
import { badge, link, list, type Markup, NOTHING, repositoryName, shown, table } from './markup.ts';

type Repository = CheckpointChanges['repositories'][number];

const numbers = ({ added, deleted, binary }: FileChange): Markup | string =>
  binary
    ? 'not text, or over 4 MiB'
    : added === null || deleted === null
      ? 'not counted'
      : html`<span class="counts"><ins>+${added}</ins> <del>−${deleted}</del></span>`;

const MOST_FILES = 200;

/** Files without lines to show: binary ones, renamed ones, or ones whose patch was not kept. */
const filesPart = (name: string, files: readonly FileChange[]): Markup =>
  html`<details${files.length <= 8 ? html` open` : NOTHING}><summary>${plural(files.length, 'file')}</summary>${table(
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
  { checkpointId }: CheckpointChanges,
  one: Repository,
  room: Room,
  alone: string | undefined,
  linksOf: LinksOf | undefined,
): Markup => {
  const { path, change, files, host, patch, truncated, note } = one;
  const isFull = room.lines <= 0;
  const diff = patch === '' || isFull ? NOTHING : diffMarkup(patch, path, room, linksOf);
  return html`<section class="repository"><h4>${repositoryName(path)} ${change === 'changed' ? NOTHING : badge(change, 'ask')} ${countsOf([one])}</h4>
    ${list(hostLines(host).map((line) => shown(line)))}
    ${note === undefined ? NOTHING : html`<p class="hint">${shown(note)}</p>`}
    ${files.length > 0 && (patch === '' || truncated || isFull) ? filesPart(`Files of ${path} in ${checkpointId}`, files) : NOTHING}
    ${patch !== '' && isFull ? html`<p class="cut">Cut here, so that the page stays small${alone === undefined ? '' : html`: ${link(alone, 'show this repository alone')}`}.</p>` : diff}
    ${truncated ? html`<p class="cut">Cut when it was kept: it was larger than 1 MiB.</p>` : NOTHING}</section>`;
};

/** `alone`: only one repository is shown, with more room. `links`: where one file of it leads to. */
export const changesPart = (
  one: CheckpointChanges,
  room: Room,
  alone?: (repository: string) => string,
  links?: (repository: string, file: string) => FileLinks,
): Markup =>
  html`${one.repositories.map((repository) => {
    const { path } = repository;
    const ofFile = links === undefined ? undefined : (file: string) => links(path, file);
    return repositoryPart(one, repository, room, alone?.(path), ofFile);
  })}`;
