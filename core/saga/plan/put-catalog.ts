import { isLoopback } from '../../../contract/http-endpoint.ts';
import type { CatalogStored, StoredVersion } from '../../../contract/saga-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaDefinition } from '../model/plan.ts';
import type { ToolManifest } from '../model/tool.ts';
import type { SagaStore, ToolFunctions } from '../ports.ts';
import { parseDefinition, parseTool } from './catalog.ts';
import { checkFunctions } from './check-functions.ts';
import { canonicalJson } from './json.ts';
import { requirePlan } from './plan-validation.ts';
import { readCatalog } from './read-catalog.ts';

interface CatalogDependencies {
  store: SagaStore;
  functions: ToolFunctions;
  /** Endpoints on a loopback host are accepted. */
  loopbackTools?: boolean;
}

/**
 * A stored version never changes. Equal content is accepted again; different content needs a new version.
 */
const settle = (
  kind: StoredVersion['kind'],
  entry: ToolManifest | SagaDefinition,
  outcome: { written: boolean; existing?: unknown },
): StoredVersion => {
  if (!outcome.written && canonicalJson(outcome.existing) !== canonicalJson(entry)) {
    const message = `${kind} ${entry.name}@${entry.version} is stored with other content; give it a new version.`;
    throw new WalkbackError('CatalogRefused', message);
  }
  return { kind, name: entry.name, version: entry.version, stored: outcome.written };
};

/** In a deployment, a loopback host would be the function's own. */
const refuseLoopback = (tools: readonly ToolManifest[]): void => {
  const tool = tools.find(({ endpoint }) => endpoint !== undefined && isLoopback(endpoint));
  if (tool === undefined) return;
  const rule = 'endpoint-loopback: it may be on a loopback host only in the embedded cloud';
  throw new WalkbackError('CatalogRefused', `tool ${tool.name}@${tool.version}: ${rule}`);
};

/**
 * Stores tools, then definitions. Everything is checked before anything is stored; definitions may use the tools that come
 * with them. Throws `CatalogRefused` or `PlanRefused`, naming the entry, the step and the rule.
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
        const message = `definition ${definition.name}@${definition.version}: ${error.message}`;
        throw new WalkbackError(error.name, message, {
          cause: error,
          retryable: error.retryable,
          details: { ...error.details },
        });
      }
    }
    const warnings = await checkFunctions(functions, tools);
    const versions: StoredVersion[] = [];
    for (const tool of tools) versions.push(settle('tool', tool, await store.putTool(tool)));
    for (const definition of definitions) {
      versions.push(settle('definition', definition, await store.putDefinition(definition)));
    }
    return { versions, warnings };
  };
