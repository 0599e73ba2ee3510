/** Sandboxes of an account whose key may be replaced at any time: every call uses the key of that moment. */
import type { Sandboxes } from '../../core/checkpoint/ports/sandbox.ts';
import { createSandboxes, type E2bConfiguration } from './sandboxes.ts';

export const createRotatingSandboxes = (
  configuration: Omit<E2bConfiguration, 'apiKey'> & { apiKey: () => Promise<string> },
): Sandboxes => {
  let made: { apiKey: string; sandboxes: Sandboxes } | undefined;
  /** Kept while the key stays, because they keep connections. */
  const current = async (): Promise<Sandboxes> => {
    const apiKey = await configuration.apiKey();
    if (made?.apiKey !== apiKey) made = { apiKey, sandboxes: createSandboxes({ ...configuration, apiKey }) };
    return made.sandboxes;
  };
  return {
    open: async (...request) => (await current()).open(...request),
    create: async (...request) => (await current()).create(...request),
    find: async (...request) => (await current()).find(...request),
    kill: async (...request) => (await current()).kill(...request),
  };
};
