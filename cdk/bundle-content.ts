/** Reads what is in a function's bundle from esbuild's own report. Pure. */
import type { Metafile } from 'esbuild';

export interface BundleContent {
  /** Path of the handler in the project. */
  entry: string;
  /** Bytes that importing the handler loads: a cold start waits for these. */
  importBytes: number;
  /** Bytes that are loaded only by a call that needs them. */
  laterBytes: number;
  /** The npm packages that importing the handler loads, sorted. */
  packages: string[];
}

/** File beside a function's bundle. */
export const CONTENT_FILE = 'bundle.json';

type Outputs = Metafile['outputs'];
type Output = Outputs[string];

/**
 * A module with everything that it imports by statements, directly or not. What `import()` names is loaded
 * later.
 */
const loadedWith = (first: Output, outputs: Outputs): Set<Output> => {
  const loaded = new Set<Output>();
  const load = (output: Output | undefined): void => {
    if (output === undefined || loaded.has(output)) return;
    loaded.add(output);
    for (const { kind, path } of output.imports) if (kind === 'import-statement') load(outputs[path]);
  };
  load(first);
  return loaded;
};

/** The package of a source file; undefined for our own. */
const packageOf = (path: string): string | undefined =>
  [...path.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1];

const packagesIn = (loaded: Iterable<Output>): string[] => {
  const files = [...loaded].flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return [...new Set(files.flatMap((path) => packageOf(path) ?? []))].sort();
};

const bytesOf = (outputs: Iterable<Output>): number =>
  [...outputs].reduce((sum, { bytes }) => sum + bytes, 0);

export const contentOf = (entry: string, { outputs }: Metafile): BundleContent => {
  const first = Object.values(outputs).find(({ entryPoint }) => entryPoint === entry);
  if (first === undefined) throw new Error(`${entry} is not in the bundle`);
  const loaded = loadedWith(first, outputs);
  const importBytes = bytesOf(loaded);
  return {
    entry,
    importBytes,
    laterBytes: bytesOf(Object.values(outputs)) - importBytes,
    packages: packagesIn(loaded),
  };
};
