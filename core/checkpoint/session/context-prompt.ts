/** The text that tells an agent's model which repositories it works in. Pure. */

import type { DirectoryListing, RepositoryInfo } from '../../../contract/checkpoint-answers.ts';
import { UNSEEN } from '../../../contract/unseen.ts';
import { plural } from '../../shared/plural.ts';
import type { SurveyReport } from '../ports/survey.ts';

/** With more repositories than this, the rest are only summarised. */
const MAX_DETAILED = 3;

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');

/**
 * Writes a name so that, whatever characters it has, it stays on its line of the prompt and hides nothing
 * from the reader.
 */
const named = (text: string): string =>
  text.search(UNSEEN) === -1 ? text : JSON.stringify(text).replaceAll(UNSEEN, escaped);

const headText = (info: RepositoryInfo): string => {
  const at = info.head === undefined ? '' : ` at ${info.head.slice(0, 12)}`;
  switch (info.headKind) {
    case 'branch':
      return `branch ${named(info.branch ?? '?')}${at}`;
    case 'unborn':
      return `branch ${named(info.branch ?? '?')}, no commits yet`;
    case 'detached':
      return `detached HEAD${at}`;
    case 'unreadable':
      return 'HEAD cannot be read';
  }
};

const statusText = (info: RepositoryInfo): string => {
  const facts = [headText(info)];
  if (info.headKind !== 'unborn') facts.push(plural(info.commits, 'commit'));
  if (info.dirty !== undefined) {
    facts.push(info.dirty === 0 ? 'working tree clean' : plural(info.dirty, 'uncommitted change'));
  }
  if (info.shallow) facts.push('shallow clone');
  if (info.partial) facts.push('partial clone');
  return facts.join(', ');
};

const absolute = (root: string, path: string): string => named(path === '.' ? root : `${root}/${path}`);

const detailed = (root: string, info: RepositoryInfo, listing: DirectoryListing | undefined): string => {
  const lines = [`## ${absolute(root, info.path)}`, statusText(info)];
  if (info.remote !== undefined) lines.push(`Remote: ${named(info.remote)}`);
  if (info.recent !== undefined && info.recent.length > 0) {
    lines.push(
      'Recent commits:',
      ...info.recent.map(({ commit, subject }) => `- ${commit} ${named(subject)}`),
    );
  }
  if (listing !== undefined && listing.entries.length > 0) {
    lines.push('Files:', ...listing.entries.map((entry) => `- ${named(entry)}`));
    if (listing.truncated) lines.push('- ... (more)');
  }
  return lines.join('\n');
};

const summarised = (root: string, infos: readonly RepositoryInfo[]): string =>
  [
    '## Other repositories',
    ...infos.map((info) => `- ${absolute(root, info.path)}: ${statusText(info)}`),
  ].join('\n');

/** The repositories to describe in detail: those with uncommitted work first, then by path. */
export const chooseDetailed = (infos: readonly RepositoryInfo[]): RepositoryInfo[] =>
  [...infos]
    .toSorted((a, b) => Number((b.dirty ?? 0) > 0) - Number((a.dirty ?? 0) > 0) || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_DETAILED);

export const contextPrompt = (
  projectsRoot: string,
  survey: SurveyReport,
  listings: readonly DirectoryListing[],
): string => {
  const { repositories, skipped } = survey;
  const inDetail = chooseDetailed(repositories);
  const others = repositories.filter((info) => !inDetail.includes(info));
  const listingOf = (path: string) => listings.find((listing) => listing.path === path);
  const sections = [
    [
      '# Workspace',
      repositories.length === 0
        ? `You work in ${named(projectsRoot)}, which has no git repository.`
        : `You work in ${plural(repositories.length, 'git repository', 'git repositories')} below ${named(projectsRoot)}.`,
      'Every state is captured before each change and can be restored. Leave directories named .agent-shadow alone.',
    ].join('\n'),
    ...inDetail.map((info) => detailed(projectsRoot, info, listingOf(info.path))),
  ];
  if (others.length > 0) sections.push(summarised(projectsRoot, others));
  if (skipped.length > 0) {
    const shown = skipped.slice(0, 10).map(({ path, reason }) => `- ${named(path)}: ${named(reason)}`);
    sections.push(['## Not covered', ...shown].join('\n'));
  }
  return `${sections.join('\n\n')}\n`;
};
