/** Commands that only look: survey, directories, diff. */
import { randomBytes } from 'node:crypto';
import type { DirectoryListing, RepositoryInfo } from '../../contract/checkpoint-answers.ts';
import type { Repositories, RepositoryDiff } from '../../core/checkpoint/ports/repositories.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { repositoryInfo, uncaptured } from './capture-command.ts';
import { hostChange } from './host-change.ts';
import { all, type Pair, records, requireOutput, value } from './output.ts';
import { runScript } from './run-script.ts';
import { buildScript, type Command } from './script.ts';

type Values = Parameters<typeof buildScript>[1];

const look = async (
  sandbox: ExecutionAdapter,
  name: Command,
  values: Values,
  request: { projectsRoot: string; timeoutMs: number },
): Promise<Pair[]> => {
  const mark = `walkback-${randomBytes(9).toString('hex')}`;
  const { projectsRoot, timeoutMs } = request;
  const script = buildScript(name, values, { mark, timeoutMs });
  const { result } = await runScript(sandbox, script, { cwd: projectsRoot, timeoutMs });
  return requireOutput(result, mark).pairs;
};

const surveyed = (record: readonly Pair[]): RepositoryInfo => {
  const dirty = value(record, 'dirty');
  const remote = value(record, 'remote');
  return {
    ...repositoryInfo(value(record, 'repo') ?? '.', record),
    ...(dirty === undefined ? {} : { dirty: Number(dirty) }),
    ...(remote === undefined || remote === '' ? {} : { remote }),
    ...(dirty === undefined
      ? {}
      : {
          recent: all(record, 'recent').map((line) => {
            const space = line.indexOf(' ');
            return { commit: line.slice(0, space), subject: line.slice(space + 1) };
          }),
        }),
  };
};

/** One round trip. */
export const survey: Repositories['survey'] = async (sandbox, request) => {
  const pairs = await look(
    sandbox,
    'survey',
    { MAX_DEPTH: request.maxDepth, DETAIL: request.detail ? 1 : 0 },
    request,
  );
  const first = pairs.findIndex(([key]) => key === 'repo');
  const around = value(pairs, 'around');
  return {
    repositories: records(pairs, 'repo').map((record) => surveyed(record)),
    skipped: uncaptured(first < 0 ? pairs : pairs.slice(0, first), 'skip', undefined),
    ...(around === undefined ? {} : { around }),
  };
};

/** One round trip. */
export const directories: Repositories['directories'] = async (sandbox, request) => {
  const pairs = await look(
    sandbox,
    'directories',
    { PATHS: request.paths, MAX_ENTRIES: request.maxEntries },
    request,
  );
  return records(pairs, 'directory').map(
    (record): DirectoryListing => ({
      path: value(record, 'directory') ?? '.',
      entries: all(record, 'entry'),
      truncated: value(record, 'truncated') === '1',
    }),
  );
};

const hostOf = (record: readonly Pair[]): Pick<RepositoryDiff, 'host'> => {
  const host = hostChange(record);
  return host === undefined ? {} : { host };
};

const difference = (record: readonly Pair[]): RepositoryDiff => ({
  path: value(record, 'repo') ?? '.',
  diff: value(record, 'diff') ?? '',
  truncated: value(record, 'truncated') === '1',
  files: Number(value(record, 'files') ?? 0),
  added: Number(value(record, 'added') ?? 0),
  deleted: Number(value(record, 'deleted') ?? 0),
  missing: value(record, 'missing') === '1',
  ...hostOf(record),
});

/** One round trip. `maxBytes` is the most one repository's diff may have. */
export const diff: Repositories['diff'] = async (sandbox, request) => {
  const pairs = await look(
    sandbox,
    'diff',
    {
      SESSION: request.sessionId,
      D_PATH: request.pairs.map((pair) => pair.path),
      D_FROM: request.pairs.map((pair) => pair.from ?? ''),
      D_TO: request.pairs.map((pair) => pair.to ?? ''),
      D_FROM_META: request.pairs.map((pair) => pair.fromMeta ?? ''),
      D_TO_META: request.pairs.map((pair) => pair.toMeta ?? ''),
      STAT_ONLY: request.statOnly ? 1 : 0,
      MAX_DIFF: request.maxBytes,
    },
    request,
  );
  return records(pairs, 'repo').map((record) => difference(record));
};
