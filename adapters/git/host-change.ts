/**
 * The host part of a plan or a diff, from the pairs of the sandbox (sandbox/restore/plan-host.sh). Pure.
 */
import type { HostChange } from '../../contract/change-answers.ts';
import { all, type Pair, records, value } from './output.ts';

type Head = NonNullable<HostChange['head']>['from'];

const headOf = (text: string): Head => {
  const [kind = '', commit = '', ...ref] = text.split(' ');
  return {
    kind: kind === 'branch' || kind === 'unborn' ? kind : 'detached',
    branch: ref.join(' ').replace(/^refs\/heads\//, '') || null,
    commit: commit || null,
  };
};

const numberOrNull = (text: string | undefined): number | null =>
  text === undefined || text === '' ? null : Number(text);

const headChange = (record: readonly Pair[], from: string, to: string): NonNullable<HostChange['head']> => {
  const [made, left] = [value(record, 'host-head-made'), value(record, 'host-head-left')];
  return {
    from: headOf(from),
    to: headOf(to),
    ...(made !== undefined && { commitsMade: numberOrNull(made) }),
    ...(left !== undefined && { commitsLeft: numberOrNull(left) }),
  };
};

/** Undefined when nothing differs. */
export const hostChange = (record: readonly Pair[]): HostChange | undefined => {
  const [from, to] = [value(record, 'host-head-from'), value(record, 'host-head-to')];
  const branches = records(record, 'host-branch').map((entry) => {
    const [before, left] = [value(entry, 'host-branch-from'), value(entry, 'host-branch-left')];
    return {
      name: value(entry, 'host-branch') ?? '',
      from: before || null,
      to: value(entry, 'host-branch-to') || null,
      // A branch that only names another branch holds no commits.
      commitsLeft: before && !before.startsWith('refs/') ? numberOrNull(left) : 0,
    };
  });
  const left = value(record, 'host-branches-left');
  const [index] = all(record, 'host-index');
  const [before, after] = [value(record, 'host-operation-from'), value(record, 'host-operation-to')];
  const [had, has] = [value(record, 'host-rules-from'), value(record, 'host-rules-to')];
  const change: HostChange = {
    ...(from !== undefined && to !== undefined && { head: headChange(record, from, to) }),
    branches: branches.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ...(left !== undefined && { branchesLeft: numberOrNull(left) ?? 0 }),
    ...(index !== undefined && { index: { entries: numberOrNull(index) } }),
    ...(had !== undefined && { partialCheckout: { from: had || null, to: has || null } }),
    ...(before !== undefined && { operation: { from: before || null, to: after || null } }),
  };
  return Object.keys(change).length === 1 && branches.length === 0 ? undefined : change;
};
