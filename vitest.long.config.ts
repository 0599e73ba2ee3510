import { existsSync, globSync, readFileSync } from 'node:fs';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const samplesCases = (file: string): boolean =>
  /from '\.\.\/support\/sampl(?:ing|ed-test)\.ts'/.test(readFileSync(file, 'utf8'));

/** Files that `npm test` plays in part or in turn, and that have no longer form. */
const WHOLE = globSync('test/{contract,scenario,unit,infra}/*.test.ts').filter(
  (file) =>
    !file.endsWith('.long.test.ts') &&
    !existsSync(file.replace('.test.ts', '.long.test.ts')) &&
    samplesCases(file),
);

/** Whole fault matrices and long random runs: `npm run test:long`. Seeds are printed; set the variable a test names to run one again. */
export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined } },
  defineConfig({
    test: {
      include: ['test/**/*.long.test.ts', ...WHOLE],
      env: { ...base.test?.env, WALKBACK_WHOLE: '1' },
      // Bundles as they are deployed run in Node itself.
      server: { deps: { external: [/\/asset\.[0-9a-f]+\/[^/]+\.mjs/] } },
      testTimeout: 1_500_000,
      hookTimeout: 600_000,
      maxWorkers: 2,
    },
  }),
);
