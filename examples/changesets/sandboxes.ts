/** Sandboxes through the `e2b` package, where the client's functions have theirs. */
import { E2B } from 'e2b';
import type { Walkback } from 'walkback';
import type { Sandboxes } from './steps.ts';

const HOUR_MS = 3_600_000;

/** The embedded cloud says where its sandboxes are; else it is E2B's own environment. */
export const openSandboxes = async (walkback: Walkback): Promise<Sandboxes> => {
  const { environment } = await walkback.connection();
  const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = environment;
  const { Sandbox } = new E2B({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(apiUrl === undefined ? {} : { apiUrl }),
    ...(sandboxUrl === undefined ? {} : { sandboxUrl }),
  });
  return {
    create: async (metadata) => (await Sandbox.create({ metadata, timeoutMs: HOUR_MS })).sandboxId,
    run: async (sandboxId, script, cwd) => {
      const sandbox = await Sandbox.connect(sandboxId);
      await sandbox.commands.run(script, cwd === undefined ? {} : { cwd });
    },
    kill: (sandboxId) => Sandbox.kill(sandboxId),
  };
};
