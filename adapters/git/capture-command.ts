/** The command that captures late writes, and the meaning of every answer that is a capture. Pure. */
import type { RepositoryInfo } from '../../contract/checkpoint-answers.ts';
import type {
  CapturedRepository,
  CaptureOutline,
  CaptureRequest,
} from '../../core/checkpoint/ports/capture.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { OBJECT_ID_PATTERN } from '../../core/shared/ids.ts';
import { type AnnouncedChanges, announcedChanges, CHANGES_LIMITS } from './changes-output.ts';
import { all, type Pair, reasonIn, records, value } from './output.ts';
import { buildScript, type Script, spillFor } from './script.ts';
import { lockWaitSeconds } from './script-deadline.ts';

/** Bundles up to this many bytes together come back inside the command's own output: one round trip. */
export const OUTPUT_BYTES = 64 * 1024;

/** Seconds the command waits to be told where large bundles go. */
const UPLOAD_WAIT_SECONDS = 60;

/** Colons and dots mean something in a ref name; ids may contain them. */
export const refName = (id: string): string => id.replaceAll(':', '%3A').replaceAll('.', '%2E');

/** What the store has of the repositories. */
export const knownValues = (known: CaptureRequest['known']) => ({
  KNOWN_PATH: known.map((one) => one.path),
  KNOWN_COMMIT: known.map((one) => one.commit),
  KNOWN_TREE: known.map((one) => one.tree),
  KNOWN_META: known.map((one) => one.meta),
  KNOWN_BASE: known.map((one) => one.base ?? ''),
  KNOWN_BASE_COMMIT: known.map((one) => one.baseCommit ?? ''),
  KNOWN_NEXT: known.map((one) => one.next),
});

export const lateScript = (
  request: CaptureRequest,
  call: string,
  mark: string,
  outputBytes = OUTPUT_BYTES,
): Script => {
  const { known } = request;
  return buildScript(
    'late',
    {
      SESSION: request.sessionId,
      CALL: call,
      TAG: refName(request.toolExecutionId),
      MESSAGE: request.messageId ?? '-',
      REASON: request.reason,
      MAX_BYTES: request.maxFileBytes,
      LOCK_WAIT: lockWaitSeconds(request.timeoutMs),
      CARRY_TOTAL: outputBytes,
      CARRY_MOST: request.maxInlineBytes,
      UPLOAD_WAIT: UPLOAD_WAIT_SECONDS,
      EXCLUDE: request.exclude,
      ...knownValues(known),
      KNOWN_BASES: request.knownBases,
      DONE: '',
      CHANGES: request.changes === true ? 1 : '',
      CHANGES_EACH: CHANGES_LIMITS.each,
      CHANGES_MOST: CHANGES_LIMITS.all,
    },
    {
      mark,
      timeoutMs: request.timeoutMs,
      spill: spillFor(request.projectsRoot, request.sessionId, call),
    },
  );
};

/** Tells the sandbox that the capture of this tag is durable. */
export const lateStoredScript = (
  request: Parameters<Repositories['lateStored']>[1],
  call: string,
  mark: string,
): Script =>
  buildScript(
    'late',
    {
      SESSION: request.sessionId,
      CALL: call,
      LOCK_WAIT: lockWaitSeconds(request.timeoutMs),
      DONE: refName(request.toolExecutionId),
    },
    { mark, timeoutMs: request.timeoutMs },
  );

/** A bundle as the sandbox announced it: where it lies in the sandbox, and how it travels. */
export interface AnnouncedBundle {
  name: string;
  repositoryPath: string;
  kind: 'base' | 'link';
  commit: string;
  base?: string;
  chain?: CapturedRepository['chain'];
  sizeBytes: number;
  sha256: string;
  carry: 'inline' | 'file' | 'upload';
}

export interface CaptureOutput {
  report: CaptureOutline;
  announced: AnnouncedBundle[];
  /** In the order of their bytes, which follow those of the bundles. */
  changes: AnnouncedChanges[];
}

const objectId = (text: string | undefined): string | undefined =>
  text !== undefined && OBJECT_ID_PATTERN.test(text) ? text : undefined;

/** `fail-path`/`fail-reason` and `skip-path`/`skip-reason`/`skip-size`, with paths made relative to the projects root. */
export const uncaptured = (pairs: readonly Pair[], kind: 'fail' | 'skip', repository: string | undefined) =>
  records(pairs, `${kind}-path`).map((record) => {
    const path = value(record, `${kind}-path`) ?? '';
    const size = value(record, `${kind}-size`);
    return {
      path:
        repository === undefined || repository === '.'
          ? path
          : path === '.'
            ? repository
            : `${repository}/${path}`,
      reason: reasonIn(record, `${kind}-reason`),
      ...(size === undefined ? {} : { sizeBytes: Number(size) }),
    };
  });

const repositoryInfo = (path: string, pairs: readonly Pair[]): RepositoryInfo => {
  const kind = value(pairs, 'head-kind');
  const base = value(pairs, 'base');
  return {
    path,
    headKind: kind === 'branch' || kind === 'unborn' || kind === 'detached' ? kind : 'unreadable',
    branch: value(pairs, 'branch'),
    head: objectId(value(pairs, 'head')),
    commits: Number(value(pairs, 'commits') ?? 0),
    shallow: value(pairs, 'shallow') === '1',
    partial: value(pairs, 'partial') === '1',
    objectFormat: value(pairs, 'format') === 'sha256' ? 'sha256' : 'sha1',
    ...(base === undefined ? {} : { base }),
  };
};

const capturedRepository = (record: readonly Pair[]): CapturedRepository => {
  const path = value(record, 'repo') ?? '.';
  const state = value(record, 'state');
  if (state === 'absent') return { path, state: 'absent', changed: true };
  const commit = objectId(value(record, 'commit'));
  const tree = objectId(value(record, 'tree'));
  const meta = objectId(value(record, 'meta'));
  if (state !== 'captured' || commit === undefined || tree === undefined || meta === undefined) {
    return { path, state: 'failed', changed: false };
  }
  const chain = value(record, 'chain');
  const stash = all(record, 'stash').flatMap((id) => objectId(id) ?? []);
  return {
    path,
    state: 'captured',
    commit,
    tree,
    meta,
    changed: value(record, 'changed') === '1',
    ...(chain === 'append' || chain === 'restart' || chain === 'rebase' ? { chain } : {}),
    base: value(record, 'base'),
    baseCommit: objectId(value(record, 'base-commit')),
    missingTarget: value(record, 'missing-target') === '1',
    ...(stash.length > 0 && { stash }),
    // The late command does not look at the host's repository.
    ...(value(record, 'head-kind') === undefined ? {} : { info: repositoryInfo(path, record) }),
  };
};

const announcedBundle = (
  record: readonly Pair[],
  repositories: readonly CapturedRepository[],
): AnnouncedBundle | undefined => {
  const name = value(record, 'bundle') ?? '';
  const match = /^(\d+)\.(link|base)$/.exec(name);
  const repository = match === null ? undefined : repositories[Number(match[1])];
  const kind = match?.[2] === 'base' ? 'base' : 'link';
  const commit = kind === 'base' ? repository?.baseCommit : repository?.commit;
  const carry = value(record, 'carry');
  if (repository === undefined || commit === undefined) return undefined;
  return {
    name,
    repositoryPath: repository.path,
    kind,
    commit,
    ...(kind === 'base' ? { base: repository.base } : { chain: repository.chain }),
    sizeBytes: Number(value(record, 'size')),
    sha256: value(record, 'sha256') ?? '',
    carry: carry === 'upload' || carry === 'file' ? carry : 'inline',
  };
};

/** Keeps one bundle of each name. An honest sandbox has no more, and a file has one content. */
const onlyFirst = (announced: readonly AnnouncedBundle[]): AnnouncedBundle[] =>
  announced.filter(({ name }, at) => announced.findIndex((one) => one.name === name) === at);

/** Reads the output of the capture command. The order of bundles is the order of their bytes in the rest. */
export const captureOutput = (pairs: readonly Pair[]): CaptureOutput => {
  const bundleStart = pairs.findIndex(([key]) => key === 'bundle' || key === 'changes' || key === 'end');
  const head = pairs.slice(0, bundleStart < 0 ? pairs.length : bundleStart);
  const firstRepository = head.findIndex(([key]) => key === 'repo');
  const repositoryRecords = records(head, 'repo');
  const repositories = repositoryRecords.map((record) => capturedRepository(record));
  const before = firstRepository < 0 ? head : head.slice(0, firstRepository);
  return {
    report: {
      repositories,
      failures: repositoryRecords.flatMap((record) => uncaptured(record, 'fail', value(record, 'repo'))),
      skipped: [
        ...uncaptured(before, 'skip', undefined),
        ...repositoryRecords.flatMap((record) => uncaptured(record, 'skip', value(record, 'repo'))),
      ],
      late: repositoryRecords.flatMap((record) => {
        const path = value(record, 'repo');
        return all(record, 'late-path').map((late) => (path === '.' ? late : `${path}/${late}`));
      }),
    },
    announced: onlyFirst(
      records(pairs, 'bundle').flatMap((record) => announcedBundle(record, repositories) ?? []),
    ),
    changes: announcedChanges(pairs, repositoryRecords),
  };
};
