/**
 * The changes of HEAD, branches, index and an operation in progress in a plan or a diff, one line each.
 * Plain text.
 */
import type { HostChange } from '../contract/change-answers.ts';
import { plural } from '../core/shared/plural.ts';
import { printableLine } from './text.ts';

type Head = NonNullable<HostChange['head']>['from'];
type Branch = HostChange['branches'][number];

const short = (commit: string | null): string => commit?.slice(0, 9) ?? 'no commit';

const headText = ({ kind, branch, commit }: Head): string =>
  kind === 'detached' ? `detached at ${short(commit)}` : `${printableLine(branch ?? '?')} (${short(commit)})`;

const countText = (count: number | null | undefined, what: string): string => {
  if (count === undefined || count === 0) return '';
  return count === null ? `; commits ${what}` : `; ${plural(count, 'commit')} ${what}`;
};

const headLine = ({ from, to, commitsMade, commitsLeft }: NonNullable<HostChange['head']>): string =>
  `HEAD: ${headText(from)} to ${headText(to)}${countText(commitsMade, commitsMade === 1 ? 'comes with it' : 'come with it')}${countText(commitsLeft, 'left behind')}`;

const leftText = ({ commitsLeft }: Branch): string => {
  if (commitsLeft === 0) return '';
  return commitsLeft === null
    ? '; its commits are left behind'
    : `; ${plural(commitsLeft, 'commit')} left behind`;
};

/** A commit, or the ref that the branch is only a name for. */
const tipText = (tip: string): string =>
  tip.startsWith('refs/') ? `an alias of ${printableLine(tip.replace(/^refs\/heads\//, ''))}` : short(tip);

const branchText = (branch: Branch): string => {
  const name = printableLine(branch.name);
  const [from, to] = [branch.from, branch.to].map((tip) => (tip === null ? '' : tipText(tip)));
  if (branch.to === null) return `branch ${name} goes${leftText(branch)}`;
  if (branch.from === null) return `branch ${name} comes, ${branch.to.startsWith('refs/') ? '' : 'at '}${to}`;
  return `branch ${name}: ${from} to ${to}${leftText(branch)}`;
};

const rulesText = (rules: string | null): string =>
  rules === null ? 'everything' : printableLine(rules.trim().split('\n').join(', ')) || 'no rules';

const rulesLine = ({ from, to }: NonNullable<HostChange['partialCheckout']>): string =>
  `partial checkout: ${rulesText(from)} to ${rulesText(to)}`;

const MOST_BRANCHES = 10;

export const hostLines = (host: HostChange | undefined): string[] => {
  if (host === undefined) return [];
  const { head, branches, branchesLeft = 0, index, partialCheckout, operation } = host;
  const more = Math.max(0, branches.length - MOST_BRANCHES) + branchesLeft;
  return [
    ...(head === undefined ? [] : [headLine(head)]),
    ...branches.slice(0, MOST_BRANCHES).map((branch) => branchText(branch)),
    ...(more > 0 ? [`and ${plural(more, 'more branch', 'more branches')}`] : []),
    ...(index === undefined
      ? []
      : [`index: ${index.entries === null ? 'entries' : plural(index.entries, 'entry', 'entries')} changed`]),
    ...(partialCheckout === undefined ? [] : [rulesLine(partialCheckout)]),
    ...(operation?.from == null ? [] : [`the ${operation.from} in progress is left`]),
    ...(operation?.to == null ? [] : [`a ${operation.to} is in progress again`]),
  ];
};
