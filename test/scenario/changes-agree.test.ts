/**
 * Whatever says what changed at a checkpoint says the same: the answer of `checkpoint`, the timeline, `changes`, a diff, the
 * event, and what the command shows of them.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { takenCheckpoint } from '../../cli/view/checkpoint-view.ts';
import { changesOf } from '../../cli/view/timeline-rows.ts';
import { Walkback } from '../../client/index.ts';
import type { ChangesAnswer, DiffAnswer } from '../../contract/change-answers.ts';
import type {
  CheckpointAnswer,
  TimelineAnswer,
  TimelineCheckpoint,
} from '../../contract/checkpoint-answers.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { mergeStage } from '../support/merge-stage.ts';
import { inTurn, sampledTest } from '../support/sampled-test.ts';
import { chosenSeed, sampled } from '../support/sampling.ts';
import { openWorld, shell, type World } from '../support/world.ts';

const test = inTurn('changes-agree');
const one = sampledTest('changes-agree', 2);

const paint = createPaint(false);
const SESSION = { sessionId: 's1' };

let cloud: TestCloud;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api', 'web'], settings: { maxFileBytes: 1000 } });
});
afterAll(() => cloud.close());

type Said = Record<string, string>;

type Changed = ChangesAnswer['checkpoints'][number]['repositories'];

/** By `changes`, which asks the store alone. */
const readChanges = async (checkpointId: string, of = SESSION): Promise<Changed> => {
  const answer = (await cloud.invoke('changes', { ...of, checkpointId })) as unknown as ChangesAnswer;
  return answer.checkpoints[0]?.repositories ?? [];
};

const toldBy = (repositories: Changed): Said =>
  Object.fromEntries(repositories.map(({ path, change }) => [path, change]));

const saidIn = ({ repositories }: Pick<CheckpointAnswer, 'repositories'>): Said =>
  Object.fromEntries(
    repositories.flatMap(({ path, change }) => (change === undefined ? [] : [[path, change]])),
  );

const changedIn = ({ repositories }: Pick<CheckpointAnswer, 'repositories'>): string[] =>
  repositories.flatMap(({ path, changed }) => (changed ? [path] : [])).toSorted();

/** The newest alone, so that the checkpoint before it is on no page with it. */
const newest = async (): Promise<TimelineCheckpoint> => {
  const page = (await cloud.invoke('timeline', { ...SESSION, limit: 1 })) as unknown as TimelineAnswer;
  const [checkpoint] = page.checkpoints;
  if (checkpoint === undefined) throw new Error('the timeline is empty');
  return checkpoint;
};

/** The names in a text of the command, or none when it says that nothing changed. */
const namesIn = (text: string, of: readonly string[]): string[] => {
  const names = of.filter((path) => new RegExp(`(^|[\\s·]) *${path} `, 'm').test(text));
  expect(text.includes('nothing changed'), text).toBe(names.length === 0);
  return names;
};

const compare = async (points: object): Promise<DiffAnswer> =>
  (await cloud.invoke('diff', { ...SESSION, stat: true, ...points })) as unknown as DiffAnswer;

const differ = ({ repositories }: DiffAnswer): Said =>
  Object.fromEntries(
    repositories.flatMap(({ path, files, host, change }) =>
      files > 0 || host !== undefined || change !== undefined ? [[path, change ?? 'changed']] : [],
    ),
  );

let count = 0;
const take = async (): Promise<CheckpointAnswer> => {
  count += 1;
  const id = `t${count}`;
  const input = { ...SESSION, messageId: id, toolExecutionId: id, reason: 'before-tool' };
  return (await cloud.invoke('checkpoint', input)) as unknown as CheckpointAnswer;
};

/** `unseen`: a diff shows files, HEAD, branches, index and operation, and nothing else. */
interface Kind {
  what: string;
  script: string;
  is: Said;
  unseen?: true;
}

/** One after the other, in one session. */
const KINDS: readonly Kind[] = [
  { what: 'nothing', script: ':', is: {} },
  { what: 'a file', script: 'echo two > api/a.txt', is: { api: 'changed' } },
  { what: 'files in two', script: 'echo x > api/x; rm web/a.txt', is: { api: 'changed', web: 'changed' } },
  { what: 'a renamed file', script: 'mv api/x api/y', is: { api: 'changed' } },
  { what: 'a file that became a link', script: 'ln -sf src api/y', is: { api: 'changed' } },
  { what: 'the executable bit', script: 'chmod +x api/a.txt', is: { api: 'changed' } },
  {
    what: 'a mode that git does not have',
    script: 'chmod 640 web/name.txt',
    is: { web: 'changed' },
    unseen: true,
  },
  { what: 'an empty directory', script: 'mkdir api/void', is: { api: 'changed' }, unseen: true },
  { what: 'the index', script: 'git -C api add -A', is: { api: 'changed' } },
  {
    what: 'a flag of the index',
    script: 'git -C web update-index --skip-worktree name.txt',
    is: { web: 'changed' },
  },
  { what: 'a commit', script: 'git -C api commit -qm two', is: { api: 'changed' } },
  { what: 'a branch', script: 'git -C api branch side', is: { api: 'changed' } },
  { what: 'HEAD', script: 'git -C api switch -q side', is: { api: 'changed' } },
  { what: 'a detached HEAD', script: 'git -C api switch -q --detach', is: { api: 'changed' } },
  { what: 'a deleted branch', script: 'git -C api branch -q -D side', is: { api: 'changed' } },
  {
    what: 'an operation in progress',
    script: 'git -C api rev-parse HEAD > api/.git/MERGE_HEAD; echo m > api/.git/MERGE_MSG',
    is: { api: 'changed' },
  },
  {
    what: 'a remote',
    script: 'git -C api remote add o https://git.example/o',
    is: { api: 'changed' },
    unseen: true,
  },
  // No capture holds these.
  { what: 'the configuration', script: 'git -C api config user.name Ada', is: {} },
  { what: 'a tag', script: 'git -C api tag v1', is: {} },
  { what: 'a stash', script: 'git -C api update-ref refs/stash HEAD', is: {} },
  { what: 'an ignored file', script: 'echo x > api/more.ignored', is: {} },
  {
    what: 'a file that is too large',
    script: 'head -c 2000 /dev/zero > api/large',
    is: { api: 'changed' },
    unseen: true,
  },
  { what: 'a repository made', script: 'git init -q new; echo x > new/x', is: { new: 'created' } },
  { what: 'an empty repository made', script: 'git init -q bare', is: { bare: 'created' } },
  {
    what: 'one made inside another',
    script: 'git init -q web/lib; echo x > web/lib/x',
    is: { 'web/lib': 'created' },
  },
  {
    what: 'a directory that became one',
    script: 'git init -q web/src',
    is: { web: 'changed', 'web/src': 'created' },
  },
  { what: 'one renamed', script: 'mv new old', is: { new: 'removed', old: 'created' } },
  { what: 'nothing, after one went', script: ':', is: {} },
  {
    what: 'one removed beside a change',
    script: 'rm -r bare; echo z > old/x',
    is: { bare: 'removed', old: 'changed' },
  },
  { what: 'one put away', script: 'mv old ../put-away', is: { old: 'removed' } },
  { what: 'one back as it was', script: 'mv ../put-away old', is: { old: 'created' } },
  { what: 'a .git that is gone', script: 'rm -r old/.git', is: { old: 'changed' }, unseen: true },
  {
    what: 'all removed',
    script: 'rm -r api web old',
    is: { api: 'removed', web: 'removed', 'web/lib': 'removed', 'web/src': 'removed', old: 'removed' },
  },
  { what: 'nothing, where nothing is', script: ':', is: {} },
];

/** Of these, a diff is asked as well, others each time. */
const COMPARED = new Set(sampled(KINDS, { every: 4, offset: chosenSeed() }));

describe('of each kind of change', () => {
  test.each(KINDS)('$what', async (kind) => {
    const { script, is, unseen } = kind;
    const before = await newest();
    shell(world.root, script);
    const taken = await take();
    const listed = await newest();
    const names = Object.keys(is).toSorted();

    const changes = await readChanges(taken.checkpointId);
    expect(toldBy(changes)).toEqual(is);
    // What is in no list is said in words.
    expect(changes.some(({ note }) => note?.startsWith('no file, HEAD') === true)).toBe(unseen === true);
    expect(saidIn(taken)).toEqual(is);
    expect(changedIn(taken)).toEqual(names);
    expect(saidIn(listed)).toEqual(is);
    expect(changedIn(listed)).toEqual(names);
    const known = listed.repositories.map(({ path }) => path);
    expect(
      namesIn(
        takenCheckpoint(taken, paint)
          .split('\n')
          .slice(0, 1 + names.length)
          .join('\n'),
        known,
      ).toSorted(),
    ).toEqual(names);
    expect(namesIn(changesOf(listed), known).toSorted()).toEqual(names);

    // A repository that went took its captures with it.
    if (COMPARED.has(kind) && !Object.values(is).includes('removed')) {
      const shown = differ(await compare({ from: before.checkpointId, to: taken.checkpointId }));
      if (unseen === true) expect(names).toEqual(expect.arrayContaining(Object.keys(shown)));
      else expect(shown).toEqual(is);
    }

    await cloud.settled();
    const event = cloud.events().findLast(({ type }) => type === 'checkpoint.created');
    expect(event?.body).toMatchObject({ checkpointId: taken.checkpointId, changedRepositories: names });
  });
});

one('a diff of what is gone says the same, in a copy', async () => {
  const { checkpoints } = (await cloud.invoke('timeline', {
    ...SESSION,
    limit: 3,
  })) as unknown as TimelineAnswer;
  const [, gone, full] = checkpoints;
  const walkback = new Walkback({ dataDir: cloud.dataDir });
  try {
    const session = await walkback.sessions.get(SESSION.sessionId);
    const points = { from: full?.checkpointId ?? '', to: gone?.checkpointId ?? '' };
    expect(differ(await session.diff({ ...points, stat: true }))).toEqual(KINDS.at(-2)?.is);
  } finally {
    await walkback.close();
  }
});

one('checkpoints that rollbacks, reverts, partial rollbacks and merges made say it too', async () => {
  const stage = mergeStage(cloud);
  const there = await openWorld(cloud, { sessionId: 's2', paths: ['api', 'web'] });
  const about = { sessionId: there.sessionId };
  const edit = async (id: string, script: string) => {
    shell(there.root, script);
    const input = { ...about, messageId: id, toolExecutionId: id, reason: 'before-tool' };
    return String((await cloud.invoke('checkpoint', input))['checkpointId']);
  };
  const first = await edit('m1', 'echo 1 > api/a.txt');
  await edit('m2', 'rm -r web; git init -q new; echo x > new/x');
  await edit('m3', 'echo 3 > api/b.txt');
  // Everything that is taken back comes whole from an earlier checkpoint.
  await cloud.invoke('revert', { ...about, messageId: 'm2', requestId: 'revert' });
  await cloud.invoke('rollback', { ...about, checkpointId: first, paths: ['api'], requestId: 'paths' });
  await cloud.invoke('rollback', { ...about, messageId: 'm2', requestId: 'there' });
  await cloud.invoke('rollback', { ...about, checkpointId: first, requestId: 'back' });
  const fork = await stage.forkOf(there);
  shell(fork.root, 'rm -r web; echo f > api/f.txt');
  await fork.checkpoint('f');
  await stage.merge(fork, there, 'merge');

  const { checkpoints } = (await cloud.invoke('timeline', {
    ...about,
    limit: 200,
  })) as unknown as TimelineAnswer;
  expect(checkpoints.toReversed().map((taken) => [taken.reason, saidIn(taken)])).toEqual([
    ['baseline', {}],
    ['before-tool', { api: 'changed' }],
    ['before-tool', { new: 'created', web: 'removed' }],
    ['before-tool', { api: 'changed' }],
    ['rollback', {}],
    ['revert', { new: 'removed', web: 'created' }],
    ['rollback', {}],
    ['partial-rollback', { api: 'changed' }],
    ['rollback', {}],
    ['rollback', {}],
    ['rollback', {}],
    ['merge', { api: 'changed', web: 'removed' }],
  ]);
  for (const checkpoint of checkpoints) {
    const said = saidIn(checkpoint);
    expect(toldBy(await readChanges(checkpoint.checkpointId, about)), checkpoint.reason).toEqual(said);
    if (checkpoint.reason !== 'baseline') expect(changedIn(checkpoint)).toEqual(Object.keys(said).toSorted());
  }
});
