import type { E2B } from 'e2b';
import { HOUR_MS } from '../../contract/times.ts';
import { CliError } from '../failure.ts';
import type { LocalSandboxes } from '../sandboxes.ts';

export interface E2bSettings {
  apiKey: string;
  apiUrl: string;
  sandboxUrl: string;
}

/**
 * The embedded cloud's sandboxes, through the real `e2b` package and one endpoint that only this cloud has.
 * `find` says where it answers now, because it may have started again on other ports.
 */
export const createLocalSandboxes = (find: () => Promise<E2bSettings>): LocalSandboxes => {
  let opened: { apiUrl: string; client: E2B } | undefined;
  const load = async (): Promise<E2B['Sandbox']> => {
    const settings = await find();
    if (opened?.apiUrl !== settings.apiUrl) {
      // Loaded only when needed: most commands use no sandbox.
      opened = { apiUrl: settings.apiUrl, client: new (await import('e2b')).E2B(settings) };
    }
    return opened.client.Sandbox;
  };
  return {
    createOver: async (directory, tags) => {
      const Sandbox = await load();
      const sandbox = await Sandbox.create({
        volumeMounts: { [directory]: directory },
        metadata: tags,
      });
      return sandbox.sandboxId;
    },
    create: async (tags) => {
      const Sandbox = await load();
      return (await Sandbox.create({ metadata: tags, timeoutMs: HOUR_MS })).sandboxId;
    },
    run: async (sandboxId, script, cwd) => {
      const Sandbox = await load();
      const sandbox = await Sandbox.connect(sandboxId);
      await sandbox.commands.run(script, { timeoutMs: 60_000, ...(cwd === undefined ? {} : { cwd }) });
    },
    places: async (sandboxId) => {
      const settings = await find();
      const url = new URL(`/local/sandboxes/${encodeURIComponent(sandboxId)}`, settings.apiUrl);
      const response = await fetch(url, { headers: { 'X-API-KEY': settings.apiKey } });
      if (response.status === 404) {
        throw new CliError('SandboxNotFound', `The sandbox ${sandboxId} is gone.`);
      }
      if (!response.ok) {
        throw new CliError(
          'CloudUnavailable',
          `The embedded cloud answered ${response.status} for ${url.pathname}.`,
        );
      }
      const { placesSchema } = await import('./places-schema.ts');
      return placesSchema.parse(await response.json());
    },
    kill: async (sandboxId) => (await load()).kill(sandboxId),
  };
};
