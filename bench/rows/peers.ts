/** How others take a snapshot of the same trees, with plain git as the floor of all. */
import { startDirectSession } from '../direct.ts';
import { compare } from '../measure.ts';
import {
  freshIndexSnapshot,
  keptIndexSnapshot,
  plainCheckpoint,
  plainStatus,
  stashSnapshot,
} from '../plain-git.ts';
import { type Row, ratioRow } from '../report.ts';
import { changeOne, createWorkspace, type Workspace } from '../repositories.ts';
import { type Benchmark, filesOf } from './context.ts';

const REPOSITORIES = 5;

type Way = (workspace: Workspace, directory: string) => Promise<() => Promise<unknown>>;

const ours: Way = async ({ root }) => {
  const session = startDirectSession(root);
  await session.capture();
  return () => session.capture();
};

/** What each does not do: docs/benchmarks.md. */
const WAYS: readonly { what: string; way: Way }[] = [
  { what: 'Walkback: the command in the sandbox', way: ours },
  { what: '`git add -A` into an index that is kept, `git write-tree`', way: keptIndexSnapshot },
  { what: '`git status`, which takes no snapshot', way: async (workspace) => plainStatus(workspace) },
  { what: 'one shadow commit by `git add -A` into a fresh index', way: freshIndexSnapshot },
  { what: '`git stash create` and untracked files in an index of their own', way: stashSnapshot },
];

export const peersBenchmark: Benchmark = {
  name: 'peers',
  title: 'a snapshot of 5 repositories x 2,500 files, 1 file changed each, against plain git',
  run: async ({ place, quick, say }) => {
    const files = filesOf(quick);
    const rows: Row[] = [];
    for (const [n, { what, way }] of WAYS.entries()) {
      say(what);
      const top = await place.directory(`peer-${n}`);
      const workspace = await createWorkspace(`${top}/work`, REPOSITORIES, files);
      const floor = await plainCheckpoint(workspace, await place.directory(`peer-${n}/plain`));
      const subject = await way(workspace, await place.directory(`peer-${n}/theirs`));
      let version = 1;
      const compared = await compare({
        repetitions: quick ? 3 : 15,
        prepare: () => changeOne(workspace, version++),
        floor,
        subject,
      });
      rows.push(ratioRow(what, compared, {}));
    }
    return rows;
  },
};
