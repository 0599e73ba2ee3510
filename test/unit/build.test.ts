/** What the packages say of themselves, and how sources become declarations. */
import { describe, expect, test } from 'vitest';
import { builtSpecifiers, packagesNamed } from '../../build/declarations.ts';
import { manifestFor, packageOf, type RootManifest } from '../../build/manifest.ts';
import type { PackagePlan } from '../../build/packages.ts';

const ROOT: RootManifest = {
  version: '1.2.3',
  license: 'UNLICENSED',
  engines: { node: '>=20' },
  os: ['linux', 'darwin'],
  cpu: ['x64', 'arm64'],
  dependencies: { zod: '4.6.7', '@aws-sdk/client-lambda': '3.1.0', tracer: '2.0.0' },
  devDependencies: { ai: '7.1.0', 'aws-cdk-lib': '2.276.0', 'cdk-nag': '2.38.2' },
  optionalDependencies: { '@dynoxide/linux-x64': '1.2.1' },
};

const PLAN: PackagePlan = {
  directory: 'walkback',
  name: 'walkback',
  description: 'A package.',
  exports: { '.': 'client/index.ts', './ai-sdk': 'client/integrations/ai-sdk.ts' },
  inlined: [],
  peers: ['aws-cdk-lib'],
  optional: ['tracer'],
  required: ['cdk-nag'],
  keywords: [],
};

describe('the package.json of a package', () => {
  const made = (imported: string[]) => manifestFor(ROOT, PLAN, { imported, files: ['client'] });

  test('takes version and licence from the root, and cannot be published until there is a licence', () => {
    expect(made([])).toMatchObject({
      version: '1.2.3',
      license: 'UNLICENSED',
      private: true,
      files: ['client'],
    });
  });

  test('exports the declarations and the module of each entry', () => {
    expect(made([])['exports']).toEqual({
      '.': { types: './client/index.d.ts', default: './client/index.js' },
      './ai-sdk': {
        types: './client/integrations/ai-sdk.d.ts',
        default: './client/integrations/ai-sdk.js',
      },
      './package.json': './package.json',
    });
  });

  test('depends on what its modules import, in the versions of the root, and on nothing else', () => {
    expect(made(['zod', 'zod/mini', '@aws-sdk/client-lambda/deep', 'cdk-nag'])).toMatchObject({
      dependencies: { '@aws-sdk/client-lambda': '3.1.0', zod: '4.6.7', 'cdk-nag': '2.38.2' },
    });
    expect(made([])).not.toHaveProperty('dependencies');
  });

  test('takes what its users have, and what it can do without, from them', () => {
    expect(made(['aws-cdk-lib', 'ai', 'tracer'])).toMatchObject({
      peerDependencies: { 'aws-cdk-lib': '>=2.276.0 <3', ai: '>=7.1.0 <8', tracer: '>=2.0.0 <3' },
      peerDependenciesMeta: { ai: { optional: true }, tracer: { optional: true } },
    });
  });

  test('is refused when it would need what nobody names', () => {
    expect(() => made(['left-pad'])).toThrow('left-pad');
  });
});

test('a declaration names the modules that are there, not the sources', () => {
  const source = [
    "import type { A } from '../contract/a.ts';",
    "export type { B } from './b.ts';",
    'export declare const c: import("./c.ts").C;',
    "import type { z } from 'zod';",
    "export type D = 'd.ts';",
  ].join('\n');
  const built = builtSpecifiers(source);
  expect(built).toContain("from '../contract/a.js'");
  expect(built).toContain("from './b.js'");
  expect(built).toContain('import("./c.js")');
  expect(built).toContain("= 'd.ts'");
  expect(packagesNamed(built)).toEqual(['zod']);
});

test('the package of a specifier', () => {
  expect(['zod', 'zod/mini', '@a/b', '@a/b/c/d'].map(packageOf)).toEqual(['zod', 'zod', '@a/b', '@a/b']);
});
