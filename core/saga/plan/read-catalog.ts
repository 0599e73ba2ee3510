/**
 * Reads from the catalog everything that a plan and those of its children name, so that checking them is
 * pure.
 */
import type { Plan, PlanStep, SagaDefinition } from '../model/plan.ts';
import type { ToolManifest } from '../model/tool.ts';
import type { SagaStore } from '../ports.ts';
import { branchesOf } from './plan-children.ts';
import type { DefinitionLookup, ToolLookup } from './plan-rules.ts';

const keyOf = (name: string, version?: string): string => `${name}@${version ?? ''}`;

interface Named {
  name: string;
  version?: string;
}

const isNamed =
  (name: string, version?: string) =>
  (entry: { name: string; version: string }): boolean =>
    entry.name === name && (version === undefined || entry.version === version);

/**
 * Tools that a plan calls, templates that it runs, and plans that are written in it. What these name in turn
 * is not included.
 */
const namedBy = (steps: readonly PlanStep[]) => {
  const tools: Named[] = [];
  const definitions: Named[] = [];
  const plans: Plan[] = [];
  for (const step of steps) {
    if ('tool' in step) {
      tools.push({ name: step.tool, ...(step.version === undefined ? {} : { version: step.version }) });
      continue;
    }
    for (const { source, interactive } of branchesOf(step)) {
      tools.push(...(interactive?.allowIrreversible ?? []).map((name) => ({ name })));
      const { definition, version, plan } = source;
      if (definition !== undefined)
        definitions.push({ name: definition, ...(version === undefined ? {} : { version }) });
      if (plan !== undefined) plans.push(plan);
    }
  }
  return { tools, definitions, plans };
};

/** `coming`: entries that are about to be stored. They have priority over those in the catalog. */
export const readCatalog = async (
  store: Pick<SagaStore, 'getTool' | 'getDefinition'>,
  plan: Plan,
  coming: { tools: readonly ToolManifest[]; definitions: readonly SagaDefinition[] } = {
    tools: [],
    definitions: [],
  },
): Promise<{
  lookup: ToolLookup;
  definitions: DefinitionLookup;
  /** Everything that the plan and those of its children name and that exists. */
  found: { tools: ToolManifest[]; definitions: SagaDefinition[] };
}> => {
  const tools = new Map<string, ToolManifest | undefined>();
  const definitions = new Map<string, SagaDefinition | undefined>();
  const queue = [plan];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const named = namedBy(next.steps);
    queue.push(...named.plans);
    await Promise.all(
      named.tools.map(async ({ name, version }) => {
        const key = keyOf(name, version);
        if (tools.has(key)) return;
        tools.set(key, undefined);
        tools.set(key, coming.tools.findLast(isNamed(name, version)) ?? (await store.getTool(name, version)));
      }),
    );
    for (const { name, version } of named.definitions) {
      const key = keyOf(name, version);
      if (definitions.has(key)) continue;
      const found =
        coming.definitions.findLast(isNamed(name, version)) ?? (await store.getDefinition(name, version));
      definitions.set(key, found);
      if (found !== undefined) queue.push(found.plan);
    }
  }
  return {
    lookup: (name, version) => tools.get(keyOf(name, version)),
    definitions: (name, version) => definitions.get(keyOf(name, version)),
    found: {
      tools: [...tools.values()].filter((one) => one !== undefined),
      definitions: [...definitions.values()].filter((one) => one !== undefined),
    },
  };
};
