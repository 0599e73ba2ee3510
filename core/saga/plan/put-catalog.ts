/** Stores tools and templates in the catalog. */
import { isLoopback } from '../../../contract/http-endpoint.ts';
import type { CatalogStored, StoredVersion } from '../../../contract/saga-lists.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaDefinition } from '../model/plan.ts';
import type { ToolManifest } from '../model/tool.ts';
import type { SagaStore, ToolFunctions } from '../ports.ts';
import { parseDefinition, parseTool } from './catalog.ts';
import { checkFunctions } from './check-functions.ts';
import { requirePlan } from './plan-validation.ts';
import { readCatalog } from './read-catalog.ts';

const READS_AT_ONCE = 8;

interface CatalogDependencies {
  store: SagaStore;
  functions: ToolFunctions;
  /** Endpoints on a loopback host are accepted. */
  loopbackTools?: boolean;
}

type Entry = ToolManifest | SagaDefinition;

/** One version that is about to be stored. */
interface Coming {
  kind: StoredVersion['kind'];
  entry: Entry;
  find: () => Promise<Entry | undefined>;
  put: () => Promise<{ written: boolean; existing?: Entry }>;
}

const nameOf = ({ kind, entry }: Pick<Coming, 'kind' | 'entry'>): string =>
  `${kind} ${entry.name}@${entry.version}`;

const comingOf = (store: SagaStore, tools: ToolManifest[], definitions: SagaDefinition[]): Coming[] => [
  ...tools.map((entry) => ({
    kind: 'tool' as const,
    entry,
    find: () => store.getTool(entry.name, entry.version),
    put: () => store.putTool(entry),
  })),
  ...definitions.map((entry) => ({
    kind: 'definition' as const,
    entry,
    find: () => store.getDefinition(entry.name, entry.version),
    put: () => store.putDefinition(entry),
  })),
];

/** A stored version never changes. Equal content is accepted again; different content needs a new version. */
const requireSame = (coming: Coming, existing: Entry | undefined): void => {
  if (existing !== undefined && canonicalJson(existing) === canonicalJson(coming.entry)) return;
  const message = `${nameOf(coming)} is stored with other content; give it a new version.`;
  throw new WalkbackError('CatalogRefused', message);
};

/** Checks each entry against the stored ones, and against those that come with it. */
const requireNewOrSame = async (all: readonly Coming[]): Promise<void> => {
  const first = new Map<string, Coming>();
  for (const coming of all) {
    const twin = first.get(nameOf(coming));
    if (twin !== undefined && canonicalJson(twin.entry) !== canonicalJson(coming.entry)) {
      const message = `${nameOf(coming)} is given twice, with different content.`;
      throw new WalkbackError('CatalogRefused', message);
    }
    first.set(nameOf(coming), coming);
  }
  await mapAtOnce([...first.values()], READS_AT_ONCE, async (coming) => {
    const existing = await coming.find();
    if (existing !== undefined) requireSame(coming, existing);
  });
};

/** The same error with another message. */
const retold = (error: WalkbackError, message: string, details: object = {}): WalkbackError =>
  new WalkbackError(error.name, message, {
    cause: error,
    retryable: error.retryable,
    details: { ...error.details, ...details },
  });

/**
 * Stores all of them. When one fails, for example because somebody else stores the same version at this
 * moment, the error says what was stored before it.
 */
const storeAll = async (all: readonly Coming[]): Promise<StoredVersion[]> => {
  const versions: StoredVersion[] = [];
  for (const coming of all) {
    const { kind, entry } = coming;
    try {
      const { written, existing } = await coming.put();
      if (!written) requireSame(coming, existing);
      versions.push({ kind, name: entry.name, version: entry.version, stored: written });
    } catch (error) {
      const stored = versions.filter((one) => one.stored);
      if (!(error instanceof WalkbackError) || stored.length === 0) throw error;
      const names = stored.map(({ name, version }) => `${name}@${version}`).join(', ');
      throw retold(error, `${error.message} Stored before it: ${names}.`, { versions });
    }
  }
  return versions;
};

/** In a deployment, a loopback host would be the function's own host. */
const refuseLoopback = (tools: readonly ToolManifest[]): void => {
  const tool = tools.find(({ endpoint }) => endpoint !== undefined && isLoopback(endpoint));
  if (tool === undefined) return;
  const rule = 'endpoint-loopback: it may be on a loopback host only in the embedded cloud';
  throw new WalkbackError('CatalogRefused', `tool ${tool.name}@${tool.version}: ${rule}`);
};

/**
 * Stores tools, then definitions. Everything is checked before anything is stored. Definitions may use tools
 * of the same call. Throws `CatalogRefused` or `PlanRefused`, naming the entry, the step and the rule.
 */
export const createPutCatalog =
  ({ store, functions, loopbackTools = false }: CatalogDependencies) =>
  async (request: { tools: unknown[]; definitions: unknown[] }): Promise<CatalogStored> => {
    const tools = request.tools.map(parseTool);
    if (!loopbackTools) refuseLoopback(tools);
    const definitions = request.definitions.map(parseDefinition);
    for (const definition of definitions) {
      const { lookup, definitions: found } = await readCatalog(store, definition.plan, {
        tools,
        definitions,
      });
      try {
        await requirePlan(definition.plan, lookup, undefined, { definitions: found, name: definition.name });
      } catch (error) {
        if (!(error instanceof WalkbackError)) throw error;
        throw retold(error, `definition ${definition.name}@${definition.version}: ${error.message}`);
      }
    }
    const coming = comingOf(store, tools, definitions);
    await requireNewOrSame(coming);
    const warnings = await checkFunctions(functions, tools);
    return { versions: await storeAll(coming), warnings };
  };
