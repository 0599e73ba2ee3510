/** Repositories to measure on: equal for equal arguments, so that floor and subject work on the same trees. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from './processes.ts';

const FILES_PER_DIRECTORY = 50;
const LINES_PER_FILE = 24;

export interface Workspace {
  root: string;
  /** Names of the repositories below it. */
  repositories: readonly string[];
  /** Files in each. */
  files: number;
}

const IDENTITY = '-c user.name=Bench -c user.email=bench@example.com -c gc.auto=0';

/** Numbers that look like source text to a compressor: not random, and no two files alike. */
const contentOf = (repository: string, file: number, version: number): string => {
  let state = (file * 2_654_435_761 + version * 40_503 + repository.length) % 4_294_967_296;
  const lines = Array.from({ length: LINES_PER_FILE }, (_, line) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return `export const value${line} = compute('${repository}', ${file}, ${version}, 0x${state.toString(16)});`;
  });
  return `${lines.join('\n')}\n`;
};

const pathOf = (file: number): string => {
  const directory = Math.floor(file / FILES_PER_DIRECTORY);
  return `src/area-${Math.floor(directory / 10)}/part-${directory}/file-${file}.ts`;
};

/** Writes `count` files of every repository, beginning with number `from`, in the given version. */
export const writeVersion = async (
  { root, repositories }: Workspace,
  version: number,
  { from, count }: { from: number; count: number },
): Promise<void> => {
  for (const repository of repositories) {
    for (let file = from; file < from + count; file++) {
      await writeFile(join(root, repository, pathOf(file)), contentOf(repository, file, version));
    }
  }
};

/** Changes one file of every repository. */
export const changeOne = (workspace: Workspace, version: number): Promise<void> =>
  writeVersion(workspace, version, { from: (version * 17) % workspace.files, count: 1 });

/** One script for every repository, all at the same time. `$r` is its name. */
export const inParallel = (repositories: readonly string[], script: string): string =>
  `set -e; pids=(); for r in ${repositories.join(' ')}; do (${script}) & pids+=($!); done; for p in "\${pids[@]}"; do wait $p; done`;

/** Git repositories with one commit that holds every file. */
export const createWorkspace = async (root: string, count: number, files: number): Promise<Workspace> => {
  const repositories = Array.from({ length: count }, (_, index) => `repository-${index}`);
  const workspace = { root, repositories, files };
  for (const repository of repositories) {
    for (let file = 0; file < files; file += FILES_PER_DIRECTORY) {
      await mkdir(join(root, repository, pathOf(file), '..'), { recursive: true });
    }
  }
  await writeVersion(workspace, 0, { from: 0, count: files });
  const commit = `cd "$r" && git init -q -b main && git add -A && git ${IDENTITY} commit -q -m first`;
  await mustRun(inParallel(repositories, commit), root);
  return workspace;
};

/** Commits everything as it is now, on the current branch. */
export const commitAll = async ({ root, repositories }: Workspace, message: string): Promise<void> => {
  const commit = `cd "$r" && git add -A && git ${IDENTITY} commit -q -m ${message}`;
  await mustRun(inParallel(repositories, commit), root);
};
