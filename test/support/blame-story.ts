/**
 * A session with forks and merges over real git, and beside it the history that plain git would have of the same work:
 * a commit for each checkpoint, with the parents that the timeline gives it. Both say who wrote each line.
 */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { BlameAnswer } from '../../contract/blame.ts';
import { COMPOSED_REASONS } from '../../core/checkpoint/timeline/whose-work.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { createGitStage, type GitStage, type GitStageOptions } from './git-stage.ts';
import { shell } from './world.ts';

const REFUSALS: ReadonlySet<string> = new Set(['ChangesetConflict', 'InvalidInput', 'WorkLeftBehind']);

const OWN = new Set(['.git', '.agent-shadow']);

/** The files of a repository, without what is git's or ours. */
const copyFiles = (from: string, to: string): void => {
  for (const name of readdirSync(to)) if (!OWN.has(name)) rmSync(join(to, name), { recursive: true });
  for (const name of readdirSync(from)) {
    if (!OWN.has(name)) cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
};

/** What came with what: a checkpoint's name, `now`, or the commit that was there before. */
interface Said {
  from: string;
  lineThere: number;
  text: string;
  path: string;
}

const originName = (origin: BlameAnswer['origins'][number] | undefined): string => {
  switch (origin?.kind) {
    case 'checkpoint':
    case 'before':
      return `${origin.sessionId} ${Number(origin.checkpointId.split('-')[1])}`;
    case 'now':
      return 'now';
    case 'commit':
      return origin.commit;
    case undefined:
      return 'nothing';
  }
};

const saidBy = ({ lines, origins, path }: BlameAnswer): Said[] =>
  lines.map(({ text, origin, lineThere }) => ({
    from: originName(origins[origin]),
    lineThere,
    text,
    path: origins[origin]?.path ?? path,
  }));

export const createBlameStory = async (
  repositories: readonly string[],
  make: string,
  options: GitStageOptions = {},
) => {
  await using starting = new AsyncDisposableStack();
  const stage: GitStage = starting.use(await createGitStage(options));
  const plain = await mkdtemp(join(tmpdir(), 'walkback-plain-'));
  starting.defer(() => rm(plain, { recursive: true, force: true }));
  const sandboxes = new Map<string, string>();
  const heads = new Map<string, string>();
  /** By name of a checkpoint: its commit in each repository, where that is there. */
  const commits = new Map<string, Map<string, string>>();
  let made = 0;

  const first = await stage.addSandbox();
  for (const name of repositories) {
    mkdirSync(join(stage.rootOf(first), name), { recursive: true });
    stage.sh(first, make, name);
    shell(
      plain,
      `git clone -q "${join(stage.rootOf(first), name)}" "${name}" && git -C "${name}" checkout -q --detach`,
    );
  }

  const filesOf = (sessionId: string, repository: string): string =>
    join(stage.rootOf(sandboxes.get(sessionId) ?? ''), repository);

  /** Commits the files as they are in the session's sandbox, on these checkpoints. */
  const commit = (name: string, sessionId: string, parents: readonly string[]): void => {
    const here = new Map<string, string>();
    for (const repository of repositories) {
      const directory = join(plain, repository);
      copyFiles(filesOf(sessionId, repository), directory);
      made += 1;
      const on = parents.flatMap((parent) => commits.get(parent)?.get(repository) ?? []);
      const words = on.length === 0 ? '-p HEAD' : on.map((id) => `-p ${id}`).join(' ');
      const date = `${2_000_000_000 + made} +0000`;
      const id = shell(
        directory,
        `git add -A -f . && git commit-tree -m "${name}" ${words} "$(git write-tree)"`,
        { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      ).trim();
      here.set(repository, id);
    }
    commits.set(name, here);
  };

  const seqOf = async (sessionId: string): Promise<number> =>
    (await stage.store.getSession(sessionId))?.seq ?? 0;

  /** The checkpoints that an operation took, by their reasons. */
  const takenSince = async (sessionId: string, seq: number) =>
    (await stage.store.listTree(sessionId)).filter((node) => node.seq > seq);

  const begin = async (sessionId: string, sandboxId: string, origin?: string): Promise<void> => {
    sandboxes.set(sessionId, sandboxId);
    commit(`${sessionId} 1`, sessionId, origin === undefined ? [] : [origin]);
    heads.set(sessionId, `${sessionId} 1`);
  };

  await stage.start('s1', first);
  await begin('s1', first);
  let requests = 0;
  const disposal = starting.move();

  /** An operation that captures now, and makes a checkpoint of what it composes from that and from `others`. */
  const compose = async (
    into: string,
    work: (requestId: string) => Promise<{ status: string }>,
    others: readonly string[] = [],
  ): Promise<string> => {
    requests += 1;
    const before = await seqOf(into);
    commit('pending', into, [story.headOf(into)]);
    const status = await work(`c${requests}`).then(
      (answer) => answer.status,
      (error: unknown) => {
        // Both sides changed the same lines, merged each other, or there is nothing of it: nothing was changed.
        if (isWalkbackError(error) && REFUSALS.has(error.name)) return error.name;
        throw error;
      },
    );
    const taken = await takenSince(into, before);
    const now = taken.find(({ reason }) => reason === 'rollback');
    const composed = taken.find(({ reason }) => COMPOSED_REASONS.has(reason));
    if (now !== undefined) commits.set(`${into} ${now.seq}`, commits.get('pending') ?? new Map());
    commits.delete('pending');
    if (status === 'APPLIED') {
      expect([now, composed]).not.toContain(undefined);
      const name = `${into} ${composed?.seq}`;
      commit(name, into, [`${into} ${now?.seq}`, ...others]);
      heads.set(into, name);
    }
    return status;
  };

  const story = {
    stage,
    plain,
    filesOf,
    sh: (sessionId: string, repository: string, script: string): string =>
      shell(filesOf(sessionId, repository), script),
    sessions: () => [...sandboxes.keys()],
    headOf: (sessionId: string) => heads.get(sessionId) ?? '',
    /** Names of the checkpoints of a session. */
    namesOf: (sessionId: string) => [...commits.keys()].filter((name) => name.startsWith(`${sessionId} `)),
    idOf: async (name: string): Promise<string> => {
      const [sessionId = '', seq] = name.split(' ');
      return (await stage.store.getCheckpoint(sessionId, Number(seq)))?.checkpointId ?? '';
    },
    checkpoint: async (sessionId: string, more = {}): Promise<string> => {
      requests += 1;
      const { seq } = await stage.checkpoint(sessionId, `t${requests}`, more);
      const name = `${sessionId} ${seq}`;
      commit(name, sessionId, [story.headOf(sessionId)]);
      heads.set(sessionId, name);
      return name;
    },
    rollback: async (name: string): Promise<void> => {
      const [sessionId = ''] = name.split(' ');
      requests += 1;
      const before = await seqOf(sessionId);
      commit('pending', sessionId, [story.headOf(sessionId)]);
      await stage.rollback(sessionId, `r${requests}`, await story.idOf(name));
      for (const { seq } of await takenSince(sessionId, before)) {
        commits.set(`${sessionId} ${seq}`, commits.get('pending') ?? new Map());
      }
      commits.delete('pending');
      heads.set(sessionId, name);
    },
    fork: async (sessionId: string, name?: string): Promise<string> => {
      requests += 1;
      const origin = name ?? story.headOf(sessionId);
      const fork = await stage.fork(sessionId, `f${requests}`, { checkpointId: await story.idOf(origin) });
      await begin(fork.sessionId, fork.sandboxId, origin);
      return fork.sessionId;
    },
    merge: (from: string, into: string): Promise<string> => {
      const taken = story.headOf(from);
      return compose(into, (requestId) => stage.merge(from, into, requestId), [taken]);
    },
    /** Takes back what a checkpoint changed. */
    revert: async (name: string): Promise<string> => {
      const [sessionId = ''] = name.split(' ');
      const checkpointIds = [await story.idOf(name)];
      return compose(sessionId, (requestId) => stage.revert(sessionId, requestId, { checkpointIds }));
    },
    /** Some paths as they were. */
    restorePaths: async (name: string, paths: string[]): Promise<string> => {
      const [sessionId = ''] = name.split(' ');
      const id = await story.idOf(name);
      return compose(sessionId, (requestId) => stage.rollback(sessionId, requestId, id, { paths }));
    },
    /** Whether the checkpoint has the file, and it has lines. */
    has: (repository: string, path: string, name: string): boolean =>
      shell(
        join(plain, repository),
        `git cat-file -s "${commits.get(name)?.get(repository)}:$F" 2>/dev/null || echo 0`,
        { F: path },
      ).trim() !== '0',
    /** What git says of the plain history. */
    plainBlame: (repository: string, path: string, name: string): Said[] => {
      const directory = join(plain, repository);
      const names = new Map<string, string>();
      for (const [label, here] of commits) names.set(here.get(repository) ?? '', label);
      const output = shell(
        directory,
        `git blame --line-porcelain ${commits.get(name)?.get(repository)} -- "$F"`,
        { F: path },
      );
      const said: Said[] = [];
      let [from, lineThere, file] = ['', 0, path];
      for (const line of output.split('\n')) {
        const [, id, there] = /^([0-9a-f]{40}) (\d+) \d+/.exec(line) ?? [];
        if (id !== undefined) [from, lineThere] = [names.get(id) ?? id, Number(there)];
        else if (line.startsWith('filename ')) file = line.slice(9);
        else if (line.startsWith('\t')) said.push({ from, lineThere, text: line.slice(1), path: file });
      }
      return said;
    },
    /** Fails unless both say the same of a file at a checkpoint, or as it is now. */
    agree: async (sessionId: string, repository: string, path: string, name?: string): Promise<void> => {
      const point = name ?? 'now';
      if (name === undefined) commit('now', sessionId, [story.headOf(sessionId)]);
      const at = name === undefined ? 'now' : await story.idOf(name);
      const wanted = story.plainBlame(repository, path, point);
      const answer = await stage.blame(sessionId, `${repository}/${path}`, { at });
      expect([repository, path, point, saidBy(answer)]).toEqual([repository, path, point, wanted]);
      commits.delete('now');
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
  return story;
};

export type BlameStory = Awaited<ReturnType<typeof createBlameStory>>;
