/** E2B as the core sees it: sandboxes to open, create, find and kill. */
import { E2B } from 'e2b';
import type { Sandboxes, SandboxTags } from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { classify } from './classify.ts';
import { createConnections } from './connections.ts';
import { createExecutionAdapter } from './execution.ts';

export interface E2bConfiguration {
  apiKey: string;
  /** Default: E2B's own endpoints of `domain`. */
  apiUrl?: string;
  sandboxUrl?: string;
  domain?: string;
}

const SANDBOX_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

const requireId = (sandboxId: string): void => {
  if (!SANDBOX_ID.test(sandboxId))
    throw new WalkbackError(
      'InvalidInput',
      'A sandbox id has 1 to 128 letters, digits, dashes and underscores.',
    );
};

const carriesAll = (metadata: SandboxTags, tags: SandboxTags): boolean =>
  Object.entries(tags).every(([name, value]) => metadata[name] === value);

/** Throws `ConfigurationError` for a refused key, and the sandbox errors of `classify`. */
export const createSandboxes = (configuration: E2bConfiguration): Sandboxes => {
  // Never E2B's debug mode: it answers some calls without making them.
  const { Sandbox } = new E2B({ ...configuration, debug: false });
  const connections = createConnections(Sandbox);

  const classified = <T>(work: Promise<T>, sandboxId?: string): Promise<T> =>
    work.catch((error: unknown) => {
      throw classify(error, sandboxId);
    });

  return {
    async open(sandboxId, { fresh = false } = {}) {
      requireId(sandboxId);
      if (fresh) connections.forget(sandboxId);
      await connections.get(sandboxId);
      return createExecutionAdapter(sandboxId, connections);
    },

    async create({ template, tags, timeoutMs }) {
      const options = { metadata: tags, timeoutMs };
      const created = template === undefined ? Sandbox.create(options) : Sandbox.create(template, options);
      const sandbox = await classified(created);
      connections.keep(sandbox, Date.now() + timeoutMs);
      return createExecutionAdapter(sandbox.sandboxId, connections);
    },

    async find(tags) {
      const found = [];
      const query = { state: ['running' as const], ...(Object.keys(tags).length > 0 && { metadata: tags }) };
      const pages = Sandbox.list({ query });
      while (pages.hasNext) found.push(...(await classified(pages.nextItems())));
      return found
        .filter(({ metadata, state }) => state === 'running' && carriesAll(metadata, tags))
        .map(({ sandboxId, metadata, startedAt, endAt }) => ({
          sandboxId,
          tags: metadata,
          startedAt: startedAt.toISOString(),
          endsAt: endAt.toISOString(),
        }))
        .sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    },

    async kill(sandboxId) {
      requireId(sandboxId);
      connections.forget(sandboxId);
      return classified(Sandbox.kill(sandboxId), sandboxId);
    },
  };
};
