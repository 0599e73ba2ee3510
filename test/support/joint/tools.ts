/** What the sagas call: three tools of a provider that notes what stands there, and the real tools of workspaces. */
import type { ToolRequest } from '../../../contract/tool-request.ts';
import type { Invoked } from '../../../core/saga/ports.ts';
import { memoryTombstones } from '../../../kit/conformance.ts';
import { toolHandler } from '../../../kit/handler.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import { workspaceTools } from '../../../tools/workspace/catalog.ts';
import { createUses } from '../../../tools/workspace/uses.ts';
import type { Random } from '../book/random.ts';
import { Death } from '../fakes/faults.ts';
import { healthySandbox } from '../fakes/healthy-sandbox.ts';
import type { Stage } from '../fakes/stage.ts';
import { committed, rejected, scriptedTool } from '../scripted-saga.ts';
import type { Processes } from './process.ts';

export const PROVIDER_TOOLS = [
  scriptedTool('pay', 'compensatable'),
  scriptedTool('book', 'partial'),
  scriptedTool('mail', 'irreversible'),
];

const DIED: Invoked = { Error: 'Runtime.ExitError', Cause: '' };

interface ProviderDependencies {
  random: Random;
  isCalm: () => boolean;
}

export const createProvider = ({ random, isCalm }: ProviderDependencies) => {
  const faulty = random.pick([0, 0.1, 0.3]);
  /** By the key of the call. */
  const stands = new Map<string, boolean>();
  const buried = new Set<string>();

  const act = ({ operation, forwardKey }: ToolRequest): Invoked => {
    if (operation === 'compensate') {
      buried.add(forwardKey);
      if (stands.has(forwardKey)) stands.set(forwardKey, false);
      return committed();
    }
    if (buried.has(forwardKey)) return rejected();
    stands.set(forwardKey, true);
    return committed();
  };

  return {
    stands: (key: string): boolean => stands.get(key) === true,
    /** It was called and does not stand. */
    lacks: (key: string): boolean => stands.get(key) === false,
    invoke: (request: ToolRequest): Invoked => {
      const { operation, idempotencyKey, attempt } = request;
      const isFaulty = !isCalm() && random.at('fails', idempotencyKey, operation, attempt) < faulty;
      const place = random.at('fault', idempotencyKey, operation, attempt);
      if (isFaulty && place < 0.5) return rejected(place < 0.25);
      const answer = act(request);
      return isFaulty && place < 0.8 ? DIED : answer;
    },
  };
};

export type Provider = ReturnType<typeof createProvider>;

interface WorkspaceDependencies {
  random: Random;
  stage: Stage;
  clock: VirtualClock;
  processes: Processes;
}

const SHARE_BROKEN = 0.15;

/** The function of the tools of workspaces, as deployed. */
export const createWorkspaceFunction = ({ random, stage, clock, processes }: WorkspaceDependencies) => {
  const tombstones = memoryTombstones();
  return async (request: ToolRequest): Promise<Invoked> => {
    const isBroken = random.at('verified', request.idempotencyKey) < SHARE_BROKEN;
    const workspaces = {
      ...healthySandbox,
      runCommand: async () => ({
        kind: 'ended' as const,
        exitCode: isBroken ? 1 : 0,
        milliseconds: 1,
        output: '',
      }),
    };
    try {
      return await processes.run(async (process) => {
        const uses = createUses({ ...stage.instance(process).deps, workspaces });
        const handle = toolHandler(workspaceTools(uses), { tombstones, now: clock.nowMs });
        return { Payload: await handle(request) };
      });
    } catch (error) {
      if (!(error instanceof Death)) throw error;
      return DIED;
    }
  };
};
