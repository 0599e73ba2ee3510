/**
 * Sessions over real git and real bundles in a local S3, with sandboxes that are directories of this machine and a table in
 * memory: the use cases without the functions around them, and with limits a test can cross.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { createBundleStore } from '../../adapters/aws/bundles.ts';
import { createRepositories, type GitLimits } from '../../adapters/git/repositories.ts';
import { createBlame } from '../../core/checkpoint/blame/blame.ts';
import { createDiff } from '../../core/checkpoint/capture/diff.ts';
import type { BundleLimits } from '../../core/checkpoint/capture/limits.ts';
import { createForkSession } from '../../core/checkpoint/lifecycle/fork-session.ts';
import { createStartSession } from '../../core/checkpoint/lifecycle/start-session.ts';
import { createMerge } from '../../core/checkpoint/merge/merge.ts';
import { createRevert } from '../../core/checkpoint/merge/revert.ts';
import type { ExecutionAdapter, Sandboxes, SandboxTags } from '../../core/checkpoint/ports/sandbox.ts';
import { createRehydrate } from '../../core/checkpoint/rehydrate/rehydrate.ts';
import { createRollback } from '../../core/checkpoint/rollback/rollback.ts';
import { createTakeCheckpoint } from '../../core/checkpoint/take/take-checkpoint.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { startS3 } from '../../local/s3/server.ts';
import { createFakeStore } from './fakes/fake-store.ts';
import { processSandbox } from './process-sandbox.ts';
import { programHere, programSent } from './sandbox-program.ts';
import { shell } from './world.ts';

const PROJECTS_ROOT = '/projects';
const BUCKET = 'bundles';
const INVOCATION_MS = 900_000;
const credentials = { accessKeyId: 'local-key', secretAccessKey: 'local-secret' };
const region = 'us-east-1';

/** A sandbox that is no directory of the stage. */
interface ElsewhereSandbox extends Disposable {
  sandbox: ExecutionAdapter;
  /** Its projects root, as this machine sees it. The sandbox sees `/projects`. */
  root: string;
}

export interface GitStageOptions {
  bundles?: BundleLimits;
  git?: GitLimits;
  /** Makes each sandbox. The program is sent there. */
  elsewhere?: () => ElsewhereSandbox;
}

/** Puts another result in the place of what a command in a sandbox answered: a sandbox that lies. */
export type Lie = (stdout: string) => string;

export const createGitStage = async (options: GitStageOptions = {}) => {
  await using starting = new AsyncDisposableStack();
  const top = await mkdtemp(join(tmpdir(), 'walkback-stage-'));
  starting.defer(() => rm(top, { recursive: true, force: true }));
  const server = await startS3({ dataDir: join(top, 's3'), credentials, region });
  starting.defer(() => server.close());
  const s3 = new S3Client({ endpoint: server.url, region, credentials, forcePathStyle: true });
  starting.defer(() => s3.destroy());
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));

  const home = join(top, 'home');
  const temporary = join(top, 'tmp');
  await Promise.all([home, temporary].map((directory) => mkdir(directory)));
  const running = new Map<string, { adapter: ExecutionAdapter; tags: SandboxTags }>();
  const lies = new Map<string, Lie>();
  const reads: number[] = [];
  const roots = new Map<string, string>();
  const rootOf = (sandboxId: string): string => roots.get(sandboxId) ?? join(top, sandboxId, 'projects');

  const adapterOf = (sandboxId: string): ExecutionAdapter => {
    const inner = processSandbox({ PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: temporary });
    const here = (path: string): string => path.replace(PROJECTS_ROOT, rootOf(sandboxId));
    return {
      ...inner,
      sandboxId,
      run: async (command, { onLine, ...how }) => {
        const lie = lies.get(sandboxId);
        const given = { ...how, cwd: here(how.cwd ?? PROJECTS_ROOT) };
        if (lie === undefined) return inner.run(command, { ...given, onLine });
        const result = await inner.run(command, given);
        const stdout = lie(result.stdout);
        for (const line of stdout.split('\n')) onLine?.(line);
        return { ...result, stdout };
      },
      writeFiles: (files) => inner.writeFiles(files.map((file) => ({ ...file, path: here(file.path) }))),
      readFile: (path, maxBytes) => {
        reads.push(maxBytes);
        return inner.readFile(here(path), maxBytes);
      },
      writeStream: (path, data) => inner.writeStream(here(path), data),
      readStream: (path) => inner.readStream(here(path)),
    };
  };

  const away = starting.use(new DisposableStack());
  let count = 0;
  const addSandbox = async (tags: SandboxTags = {}): Promise<string> => {
    const sandboxId = `sandbox-${++count}`;
    const elsewhere = options.elsewhere?.();
    if (elsewhere !== undefined) {
      away.use(elsewhere);
      roots.set(sandboxId, elsewhere.root);
      running.set(sandboxId, { adapter: { ...elsewhere.sandbox, sandboxId }, tags });
      return sandboxId;
    }
    await mkdir(rootOf(sandboxId), { recursive: true });
    running.set(sandboxId, { adapter: adapterOf(sandboxId), tags });
    return sandboxId;
  };
  const need = (sandboxId: string): ExecutionAdapter => {
    const found = running.get(sandboxId);
    if (found === undefined) throw new WalkbackError('SandboxNotFound', `no sandbox ${sandboxId}`);
    return found.adapter;
  };
  const sandboxes: Sandboxes = {
    open: async (sandboxId) => need(sandboxId),
    create: async ({ tags }) => need(await addSandbox(tags)),
    find: async () => [],
    kill: async (sandboxId) => {
      await rm(join(top, sandboxId), { recursive: true, force: true });
      return running.delete(sandboxId);
    },
  };

  const store = createFakeStore();
  let skippedMs = 0;
  const clock = { now: () => new Date(Date.now() + skippedMs), sleep: async () => undefined };
  let randoms = 0;
  const deps = {
    store,
    bundles: createBundleStore({ bucket: BUCKET, client: s3 }),
    sandboxes,
    repositories: createRepositories(options.elsewhere ? programSent() : programHere(), options.git),
    limits: options.bundles,
    clock,
    log: { info: () => undefined, warn: () => undefined },
    random: () => String(randoms++).padStart(10, '0'),
  };
  const disposal = starting.move();
  const invocation = () => ({ deadlineMs: clock.now().getTime() + INVOCATION_MS });
  const start = createStartSession(deps);
  const checkpoint = createTakeCheckpoint(deps);
  const rollback = createRollback(deps);
  const rehydrate = createRehydrate(deps);
  const diff = createDiff(deps);
  const blame = createBlame(deps);
  const fork = createForkSession(deps);
  const merge = createMerge(deps);
  const revert = createRevert(deps);

  return {
    store,
    s3,
    bucket: BUCKET,
    /** Where the bytes of objects lie on this machine. */
    dataDir: join(top, 's3'),
    lies,
    /** How much was asked for whenever something was read out of a sandbox. */
    reads,
    rootOf,
    /** The temporary directory of all sandboxes. */
    temporary,
    addSandbox,
    kill: (sandboxId: string) => sandboxes.kill(sandboxId),
    passMs: (ms: number) => {
      skippedMs += ms;
    },
    sh: (sandboxId: string, script: string, directory = '.') =>
      shell(join(rootOf(sandboxId), directory), script),
    start: (sessionId: string, sandboxId: string, more: Partial<Parameters<typeof start>[0]> = {}) =>
      start({ sessionId, sandboxId, projectsRoot: PROJECTS_ROOT, ...more }, invocation()),
    checkpoint: (sessionId: string, id: string, more: Partial<Parameters<typeof checkpoint>[0]> = {}) =>
      checkpoint(
        { sessionId, messageId: id, toolExecutionId: id, reason: 'before-tool', ...more },
        invocation(),
      ),
    rollback: (sessionId: string, requestId: string, checkpointId: string, more = {}) =>
      rollback({ sessionId, requestId, checkpointId, ...more }, invocation()),
    diff: (sessionId: string, from: string, to: string) => diff({ sessionId, from, to }, invocation()),
    blame: (sessionId: string, path: string, more: Partial<Parameters<typeof blame>[0]> = {}) =>
      blame({ sessionId, path, ...more }, invocation()),
    fork: (sessionId: string, requestId: string, more: Partial<Parameters<typeof fork>[0]> = {}) =>
      fork({ sessionId, requestId, ...more }, invocation()),
    merge: (from: string, into: string, requestId: string, more: Partial<Parameters<typeof merge>[0]> = {}) =>
      merge({ from, into, requestId, ...more }, invocation()),
    revert: (sessionId: string, requestId: string, more: Partial<Parameters<typeof revert>[0]>) =>
      revert({ sessionId, requestId, ...more }, invocation()),
    rehydrate: (sessionId: string, checkpointId: string, more = {}) =>
      rehydrate({ sessionId, checkpointId, ...more }, invocation()),
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
};

export type GitStage = Awaited<ReturnType<typeof createGitStage>>;
