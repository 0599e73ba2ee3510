/**
 * All sandboxes of the server. It owns `<dataDir>/<sandboxId>/`, the timers that end sandboxes, and their
 * processes. After a restart, the records on disk are the truth. A sandbox exists from the moment its record
 * is written until its directory is renamed.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HOUR_MS } from '../../contract/times.ts';
import { mountsInside } from './mounts-inside.ts';
import type { SandboxRoot } from './paths.ts';
import { createProcesses, type Processes } from './processes.ts';
import { checkMounts, createRootfs, DELETED, type Mount, removeSandboxDirectory } from './rootfs.ts';
import { readRecord, type SandboxRecord, writeRecord } from './sandbox-record.ts';

export interface Sandbox {
  readonly id: string;
  readonly root: SandboxRoot;
  readonly processes: Processes;
  record: SandboxRecord;
}

export interface NewSandbox {
  templateId: string;
  metadata: Record<string, string>;
  envs: Record<string, string>;
  onTimeout: 'kill' | 'pause';
  mounts: Mount[];
  /** Absent: 5 minutes, or no limit when something is mounted. */
  timeoutMs?: number;
}

const SANDBOX_ID = /^wb[0-9a-f]{18}$/;
const DEFAULT_TIMEOUT_MS = 300_000;
/** The longest time of a timer. A later end is checked again then. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface RunningSandbox extends Sandbox {
  timer?: NodeJS.Timeout;
  saved: Promise<void>;
}

export type Registry = Awaited<ReturnType<typeof openRegistry>>;

export const openRegistry = async (directory: string) => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(directory);
  const sandboxes = new Map<string, RunningSandbox>();
  const background = new Set<Promise<void>>();

  const save = (sandbox: RunningSandbox): Promise<void> => {
    // The next save is tried whether or not the one before succeeded.
    sandbox.saved = sandbox.saved
      .catch(() => undefined)
      .then(() => writeRecord(join(dataDir, sandbox.id), sandbox.record));
    return sandbox.saved;
  };

  const end = async (sandbox: RunningSandbox): Promise<void> => {
    const { record } = sandbox;
    if (record.onTimeout === 'pause') return pause(sandbox, true);
    const isMounted = (await mountedBy()).has(sandbox.id);
    if (!isMounted) await letGo(sandbox);
    // Meanwhile it was given more time, paused or killed.
    if (sandbox.record !== record || sandboxes.get(sandbox.id) !== sandbox) return;
    // Somebody works on its files, which would be gone.
    if (isMounted) await change(sandbox, { endAtMs: Date.now() + HOUR_MS });
    else await remove(sandbox);
  };

  /** Sandboxes by the id of the one whose files include a directory of theirs. */
  const mountedBy = (): Promise<Map<string, string[]>> => mountsInside(dataDir, [...sandboxes.values()]);

  /**
   * A sandbox with mounts is about to end. The sandboxes in whose files these mounts lie live for at least
   * one more hour, so that what is left in them can be looked at.
   */
  const letGo = async (mounted: RunningSandbox): Promise<void> => {
    if (mounted.record.mounts.length === 0) return;
    for (const [id, by] of await mountedBy()) {
      const sandbox = sandboxes.get(id);
      const endAtMs = sandbox?.record.endAtMs ?? null;
      if (sandbox === undefined || endAtMs === null || !by.includes(mounted.id)) continue;
      await change(sandbox, { endAtMs: Math.max(endAtMs, Date.now() + HOUR_MS) });
    }
  };

  const schedule = (sandbox: RunningSandbox): void => {
    clearTimeout(sandbox.timer);
    const { endAtMs, state } = sandbox.record;
    if (endAtMs === null || state === 'paused' || sandboxes.get(sandbox.id) !== sandbox) return;
    const leftMs = endAtMs - Date.now();
    sandbox.timer = setTimeout(
      () => (leftMs > MAX_TIMER_MS ? schedule(sandbox) : inBackground(end(sandbox))),
      Math.max(0, Math.min(leftMs, MAX_TIMER_MS)),
    );
  };

  const inBackground = (work: Promise<void>): void => {
    const settled = work
      .catch((error: unknown) => console.error('local E2B: a sandbox could not be ended:', error))
      .finally(() => background.delete(settled));
    background.add(settled);
  };

  const change = async (sandbox: RunningSandbox, changes: Partial<SandboxRecord>): Promise<void> => {
    sandbox.record = { ...sandbox.record, ...changes };
    schedule(sandbox);
    await save(sandbox);
  };

  const keep = (record: SandboxRecord): RunningSandbox => {
    const { sandboxId: id, mounts } = record;
    const root = { rootfs: join(dataDir, id, 'rootfs'), mounts };
    const sandbox = { id, root, processes: createProcesses(id), record, saved: Promise.resolve() };
    sandboxes.set(id, sandbox);
    return sandbox;
  };

  const kill = async (sandbox: RunningSandbox): Promise<boolean> => {
    await letGo(sandbox);
    return remove(sandbox);
  };

  /** False when another call has removed it already. */
  const remove = async (sandbox: RunningSandbox): Promise<boolean> => {
    // Removed now, so that nothing new can start in it.
    if (!sandboxes.delete(sandbox.id)) return false;
    clearTimeout(sandbox.timer);
    await sandbox.processes.close();
    await sandbox.saved.catch(() => undefined);
    await removeSandboxDirectory(dataDir, sandbox.id, sandbox.record.mounts);
    return true;
  };

  const pause = async (sandbox: RunningSandbox, keepMemory: boolean): Promise<void> => {
    await change(sandbox, { state: 'paused' });
    await (keepMemory ? sandbox.processes.freeze() : sandbox.processes.kill());
  };

  const load = async (name: string): Promise<void> => {
    const path = join(dataDir, name);
    const record = SANDBOX_ID.test(name) ? await readRecord(path) : undefined;
    if (record !== undefined) keep(record);
    else if (SANDBOX_ID.test(name) || name.startsWith(DELETED))
      await rm(path, { recursive: true, force: true });
  };
  for (const name of await readdir(dataDir)) await load(name);
  // Only when all are known, because a sandbox with mounted files is kept.
  for (const sandbox of sandboxes.values()) schedule(sandbox);

  return {
    /** Throws `MountError` when a mount cannot be made. */
    async create(wanted: NewSandbox): Promise<Sandbox> {
      await checkMounts(wanted.mounts);
      const sandboxId = `wb${randomBytes(9).toString('hex')}`;
      const unlimited = wanted.mounts.length > 0 && wanted.timeoutMs === undefined;
      const startedAtMs = Date.now();
      const record: SandboxRecord = {
        sandboxId,
        templateId: wanted.templateId,
        accessToken: randomBytes(32).toString('hex'),
        metadata: wanted.metadata,
        envs: wanted.envs,
        state: 'running',
        onTimeout: wanted.onTimeout,
        startedAtMs,
        endAtMs: unlimited ? null : startedAtMs + (wanted.timeoutMs ?? DEFAULT_TIMEOUT_MS),
        mounts: wanted.mounts,
      };
      const path = join(dataDir, sandboxId);
      try {
        await createRootfs(join(path, 'rootfs'), wanted.mounts);
        await writeRecord(path, record);
      } catch (error) {
        await removeSandboxDirectory(dataDir, sandboxId, wanted.mounts);
        throw error;
      }
      const sandbox = keep(record);
      schedule(sandbox);
      return sandbox;
    },

    get: (id: string): Sandbox | undefined => sandboxes.get(id),

    all: (): Sandbox[] => [...sandboxes.values()],

    mountedBy,

    /** Extends its life (never shortens it) and resumes it. Answers whether it was paused. */
    async connect(
      id: string,
      timeoutMs: number = DEFAULT_TIMEOUT_MS,
    ): Promise<'running' | 'resumed' | undefined> {
      const sandbox = sandboxes.get(id);
      if (sandbox === undefined) return undefined;
      const { state, endAtMs } = sandbox.record;
      const asked = Date.now() + timeoutMs;
      const extended = endAtMs === null ? null : state === 'paused' ? asked : Math.max(asked, endAtMs);
      await change(sandbox, { state: 'running', endAtMs: extended });
      // Another call may be resuming it. What starts before that is through would be stopped or killed.
      await (state === 'paused' ? sandbox.processes.thaw() : sandbox.processes.settled());
      return state === 'paused' ? 'resumed' : 'running';
    },

    async setTimeout(id: string, timeoutMs: number): Promise<boolean> {
      const sandbox = sandboxes.get(id);
      if (sandbox !== undefined) await change(sandbox, { endAtMs: Date.now() + timeoutMs });
      return sandbox !== undefined;
    },

    async pause(id: string, keepMemory: boolean): Promise<'paused' | 'already' | undefined> {
      const sandbox = sandboxes.get(id);
      if (sandbox === undefined || sandbox.record.state === 'paused') return sandbox && 'already';
      await pause(sandbox, keepMemory);
      return 'paused';
    },

    /** False when there is none. */
    async kill(id: string): Promise<boolean> {
      const sandbox = sandboxes.get(id);
      return sandbox === undefined ? false : kill(sandbox);
    },

    /** Ends every process. The sandboxes themselves exist again at the next start. */
    async close(): Promise<void> {
      const all = [...sandboxes.values()];
      sandboxes.clear();
      for (const sandbox of all) clearTimeout(sandbox.timer);
      await Promise.all(all.map((sandbox) => sandbox.processes.close()));
      await Promise.all([...all.map((sandbox) => sandbox.saved), ...background]);
    },
  };
};
