/** Forks and merges on the embedded cloud: real git in real sandboxes. */
import { expect } from 'vitest';
import type { MergeAnswer } from '../../contract/rollback-answers.ts';
import { fingerprint, openWorld, rootOf, type World, type WorldCloud } from './world.ts';

export const PATHS = ['api', 'web'];

export interface Fork {
  sessionId: string;
  sandboxId: string;
  root: string;
  looks(): string[];
  checkpoint(id: string): Promise<string>;
}

/** What tests of merges do, on one cloud. */
export const mergeStage = (cloud: WorldCloud) => {
  let worlds = 0;
  const open = (): Promise<World> => {
    worlds += 1;
    return openWorld(cloud, { sessionId: `s${worlds}`, paths: PATHS });
  };

  const forkOf = async ({ sessionId }: { sessionId: string }, requestId = 'f1'): Promise<Fork> => {
    const fork = await cloud.invoke('fork-session', { sessionId, requestId, guidance: 'Mend the tests.' });
    expect(fork['prompt']).toMatch(/^Mend the tests\.\n\n# Workspace/);
    const [id, sandboxId] = [String(fork['sessionId']), String(fork['sandboxId'])];
    const root = rootOf(cloud, sandboxId);
    return {
      sessionId: id,
      sandboxId,
      root,
      looks: () => fingerprint(root, PATHS),
      checkpoint: async (tool) => {
        const input = { sessionId: id, messageId: tool, toolExecutionId: tool, reason: 'before-tool' };
        return String((await cloud.invoke('checkpoint', input))['checkpointId']);
      },
    };
  };

  const merge = async (
    from: { sessionId: string },
    into: { sessionId: string },
    requestId: string,
    more = {},
  ) =>
    (await cloud.invoke('merge', {
      from: from.sessionId,
      into: into.sessionId,
      requestId,
      ...more,
    })) as unknown as MergeAnswer;
  return { open, forkOf, merge };
};
