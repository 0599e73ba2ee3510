/**
 * Entries of the catalog that come with Walkback. They exist from the first start, without being stored. An
 * entry that somebody stored under the same name has priority, unless it has the same version.
 */

import type { WriteOutcome } from '../../checkpoint/ports/stores.ts';
import type { SagaDefinition } from '../model/plan.ts';
import type { ToolManifest } from '../model/tool.ts';
import type { SagaStore } from '../ports.ts';

export interface BuiltIn {
  tools: readonly ToolManifest[];
  definitions: readonly SagaDefinition[];
}

interface Entry {
  name: string;
  version: string;
}

interface Entries<Of extends Entry> {
  get: (name: string, version?: string) => Promise<Of | undefined>;
  list: () => Promise<Of[]>;
  put: (entry: Of) => Promise<WriteOutcome<Of>>;
}

const over = <Of extends Entry>(builtIn: readonly Of[], stored: Entries<Of>): Entries<Of> => {
  const find = (name: string, version?: string): Of | undefined =>
    builtIn.findLast((one) => one.name === name && (version === undefined || one.version === version));
  return {
    get: async (name, version) => (await stored.get(name, version)) ?? find(name, version),
    list: async () => {
      const own = await stored.list();
      const names = new Set(own.map(({ name }) => name));
      const newest = new Map(builtIn.map((one) => [one.name, one]));
      return [...own, ...[...newest.values()].filter(({ name }) => !names.has(name))];
    },
    put: async (entry) => {
      const existing = builtIn.find(({ name, version }) => name === entry.name && version === entry.version);
      return existing === undefined ? stored.put(entry) : { written: false, existing };
    },
  };
};

export const withBuiltIn = (store: SagaStore, { tools, definitions }: BuiltIn): SagaStore => {
  const ofTools = over(tools, {
    get: (name, version) => store.getTool(name, version),
    list: () => store.listTools(),
    put: (tool) => store.putTool(tool),
  });
  const ofDefinitions = over(definitions, {
    get: (name, version) => store.getDefinition(name, version),
    list: () => store.listDefinitions(),
    put: (definition) => store.putDefinition(definition),
  });
  return {
    ...store,
    getTool: ofTools.get,
    listTools: ofTools.list,
    putTool: ofTools.put,
    getDefinition: ofDefinitions.get,
    listDefinitions: ofDefinitions.list,
    putDefinition: ofDefinitions.put,
  };
};
