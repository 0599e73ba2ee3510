/**
 * Sandboxes of an account whose key may be replaced at any time: every call uses the key of that moment.
 * E2B's SDK takes as long to load as an AWS client. So it is loaded while the key and the session are read,
 * and only by functions that open a sandbox.
 */
import type { Sandboxes } from '../../core/checkpoint/ports/sandbox.ts';
import type { E2bConfiguration } from './sandboxes.ts';

export const createRotatingSandboxes = (
  configuration: Omit<E2bConfiguration, 'apiKey'> & { apiKey: () => Promise<string> },
): Sandboxes => {
  const loading = import('./sandboxes.ts');
  // A caller that opens a sandbox gets the error. If nobody does, the error must not end the process.
  loading.catch(() => undefined);
  let made: { apiKey: string; sandboxes: Sandboxes } | undefined;
  /** Kept while the key stays the same, because these objects keep connections. */
  const current = async (): Promise<Sandboxes> => {
    const [{ createSandboxes }, apiKey] = await Promise.all([loading, configuration.apiKey()]);
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
