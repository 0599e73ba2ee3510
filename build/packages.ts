/** The npm packages that this repository makes: what each holds, and what its package.json says beside what the root's says. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { PROJECT } from '../local/program.ts';

export interface PackagePlan {
  /** Its directory under dist. */
  directory: string;
  name: string;
  description: string;
  /** Sub-path of the package -> source file. A command has none. */
  exports: Readonly<Record<string, string>>;
  bin?: Readonly<Record<string, string>>;
  /** Put into its modules, although the root has them as dependencies: small, or only a part of them is used. */
  inlined: readonly string[];
  /** Whoever uses it has them already. */
  peers: readonly string[];
  /** It does without them where they are not installed. Development dependencies of the root are always that. */
  optional: readonly string[];
  /** Development dependencies of the root that the package itself cannot do without. */
  required: readonly string[];
  keywords: readonly string[];
}

const KEYWORDS = ['ai-agents', 'undo', 'rollback', 'checkpoint', 'saga', 'compensation'];

/** `client/integrations/ai-sdk.ts` is `walkback/ai-sdk`; a folder there is one by its `index.ts`. */
const integrations = (): Record<string, string> => {
  const files = globSync(['client/integrations/*.ts', 'client/integrations/*/index.ts'], { cwd: PROJECT });
  return Object.fromEntries(
    files.sort().map((file) => {
      const name = file.endsWith('/index.ts') ? file.slice(0, -'/index.ts'.length) : file;
      return [`./${basename(name, '.ts')}`, file];
    }),
  );
};

export const clientPackage = (): PackagePlan => ({
  directory: 'walkback',
  name: 'walkback',
  description:
    'The undo layer for AI agents: the client, its integrations, and the kit for authors of tools.',
  exports: {
    '.': 'client/index.ts',
    './serve-tools': 'client/serve-tools.ts',
    './kit': 'kit/index.ts',
    './kit/testing': 'kit/testing/index.ts',
    ...integrations(),
  },
  inlined: ['ajv', 'jsonata', 'p-limit'],
  peers: [],
  optional: ['@aws-lambda-powertools/tracer'],
  required: [],
  keywords: KEYWORDS,
});

export const constructPackage = (): PackagePlan => ({
  directory: 'cdk',
  name: '@walkback/cdk',
  description: 'The CDK construct that deploys Walkback, with the bundles of its functions.',
  exports: { '.': 'cdk/walkback.ts' },
  inlined: [],
  peers: ['aws-cdk-lib', 'constructs'],
  optional: [],
  required: ['cdk-nag'],
  keywords: [...KEYWORDS, 'aws-cdk'],
});

export const commandPackage = (): PackagePlan => ({
  directory: 'cli',
  name: '@walkback/cli',
  description: 'The walkback command, with the embedded cloud that runs Walkback on one machine.',
  exports: {},
  bin: { walkback: 'bin/walkback.mjs' },
  inlined: [],
  peers: [],
  optional: [],
  required: [],
  keywords: KEYWORDS,
});
