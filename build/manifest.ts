/** The package.json of a package, from the root's: versions and licence are written once. Pure. */
import * as z from 'zod';
import type { PackagePlan } from './packages.ts';

const versions = z.record(z.string(), z.string()).default({});

export const rootManifest = z.object({
  version: z.string(),
  license: z.string(),
  engines: z.record(z.string(), z.string()),
  os: z.array(z.string()),
  cpu: z.array(z.string()),
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
export type RootManifest = z.infer<typeof rootManifest>;

/** `@scope/name/deep` is `@scope/name`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The next major version breaks, whatever is written today. */
const fromThisOn = (version: string): string => `>=${version} <${Number(version.split('.')[0]) + 1}`;

const built = (source: string, ending: string): string => `./${source.replace(/\.ts$/, ending)}`;

const exportsOf = ({ exports }: PackagePlan): Record<string, unknown> => ({
  ...Object.fromEntries(
    Object.entries(exports).map(([path, source]) => [
      path,
      { types: built(source, '.d.ts'), default: built(source, '.js') },
    ]),
  ),
  './package.json': './package.json',
});

/** What the modules of a package import, as its dependencies. Throws for what the root's package.json does not name. */
const dependenciesOf = (root: RootManifest, plan: PackagePlan, imported: readonly string[]) => {
  const named = [...new Set(imported.map(packageOf))].sort();
  const pick = (names: readonly string[], from: Record<string, string>, as = (version: string) => version) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const version = from[name];
        return version === undefined ? [] : [[name, as(version)]];
      }),
    );
  const isBrought = (name: string) => plan.peers.includes(name) || plan.optional.includes(name);
  const isOwn = (name: string) => name in root.dependencies || plan.required.includes(name);
  const own = named.filter((name) => isOwn(name) && !isBrought(name));
  const peers = named.filter((name) => plan.peers.includes(name));
  // A framework that one integration of the client is for: who uses that one has it.
  const optional = named.filter((name) => !own.includes(name) && !peers.includes(name));
  const all = { ...root.dependencies, ...root.devDependencies };
  const unknown = optional.filter((name) => !(name in all));
  if (unknown.length > 0)
    throw new Error(`${plan.name} imports what package.json lacks: ${unknown.join(', ')}`);
  return {
    dependencies: pick(own, all),
    peerDependencies: pick([...peers, ...optional], all, fromThisOn),
    peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
  };
};

const nonEmpty = (fields: Record<string, object>): Record<string, object> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0));

export const manifestFor = (
  root: RootManifest,
  plan: PackagePlan,
  made: {
    /** Packages that its modules and declarations name. */
    imported: readonly string[];
    /** What was made of it, by name in its directory. */
    files: readonly string[];
    /** Packages that npm installs where they fit the machine. */
    optional?: Readonly<Record<string, string>>;
  },
): Record<string, unknown> => {
  const { bin } = plan;
  return {
    name: plan.name,
    version: root.version,
    description: plan.description,
    keywords: plan.keywords,
    license: root.license,
    // Until the owner has chosen a licence, npm refuses to publish it.
    private: true,
    type: 'module',
    sideEffects: false,
    engines: root.engines,
    // The client and the construct also run where the command does not.
    ...(bin === undefined ? {} : { os: root.os, cpu: root.cpu, bin }),
    exports: exportsOf(plan),
    files: made.files,
    ...nonEmpty({
      ...dependenciesOf(root, plan, made.imported),
      optionalDependencies: made.optional ?? {},
    }),
  };
};
