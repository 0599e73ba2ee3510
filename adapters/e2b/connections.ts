/**
 * Connected sandboxes of this process. Owns a cache of handles, so that the steps of one operation do not
 * look the sandbox up each time. A handle is trusted only briefly: if the sandbox was paused meanwhile and
 * has auto-resume, using the handle would wake it, and nothing here may resume (and bill) a sandbox.
 */
import type { Sandbox } from 'e2b';
import { WalkbackError } from '../../core/shared/errors.ts';
import { classify } from './classify.ts';

export interface Connection {
  sandbox: Sandbox;
  /** When the sandbox ends unless its life is extended. */
  endAtMs: number;
  usedAtMs: number;
}

const TRUSTED_MS = 30_000;
const MAX_CACHED = 64;
/**
 * Asked for when connecting. The server only ever extends a sandbox's life, so this matters only to a sandbox
 * that is about to end.
 */
const MIN_LIFE_MS = 60_000;
/** Time that stays after a command's own timeout, for what follows it. */
const LIFE_MARGIN_MS = 60_000;

const requireRunning = (sandboxId: string, state: string): void => {
  if (state === 'running') return;
  throw new WalkbackError('SandboxNotFound', `The sandbox is ${state}; resume it or rehydrate the session.`, {
    details: { sandboxId, state, outcome: 'nothing-happened' },
  });
};

export type Connections = ReturnType<typeof createConnections>;

export const createConnections = (api: typeof Sandbox) => {
  const connected = new Map<string, Connection>();

  const keep = (sandbox: Sandbox, endAtMs: number): Connection => {
    const connection = { sandbox, endAtMs, usedAtMs: Date.now() };
    connected.delete(sandbox.sandboxId);
    connected.set(sandbox.sandboxId, connection);
    for (const oldest of connected.keys()) if (connected.size > MAX_CACHED) connected.delete(oldest);
    return connection;
  };

  /** Looks before it connects: connecting would resume a paused sandbox. */
  const connect = async (sandboxId: string, lifeMs: number): Promise<Connection> => {
    try {
      const info = await api.getInfo(sandboxId);
      requireRunning(sandboxId, info.state);
      const sandbox = await api.connect(sandboxId, { timeoutMs: lifeMs });
      return keep(sandbox, Math.max(info.endAt.getTime(), Date.now() + lifeMs));
    } catch (error) {
      throw classify(error, sandboxId);
    }
  };

  return {
    keep,

    forget: (sandboxId: string): void => void connected.delete(sandboxId),

    /** A connection that lives at least `neededMs` from now. Throws `SandboxNotFound` when gone or paused. */
    async get(sandboxId: string, neededMs = 0): Promise<Connection> {
      const nowMs = Date.now();
      const found = connected.get(sandboxId);
      const trusted = found !== undefined && nowMs - found.usedAtMs < TRUSTED_MS;
      if (trusted && found.endAtMs - nowMs >= neededMs) {
        found.usedAtMs = nowMs;
        return found;
      }
      connected.delete(sandboxId);
      return connect(sandboxId, Math.max(MIN_LIFE_MS, neededMs + LIFE_MARGIN_MS));
    },
  };
};
