import { defineConfig, mergeConfig } from 'vitest/config';
import { longFiles } from './test/support/long-files.ts';
import base from './vitest.config.ts';

/** Whole fault matrices and long random runs: `npm run test:long`. Seeds are printed; set the variable a test names to run one again. */
export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined } },
  defineConfig({
    test: {
      include: longFiles(),
      env: { ...base.test?.env, WALKBACK_WHOLE: '1' },
      // Bundles as they are deployed run in Node itself.
      server: { deps: { external: [/\/asset\.[0-9a-f]+\/[^/]+\.mjs/] } },
      testTimeout: 1_500_000,
      hookTimeout: 600_000,
      maxWorkers: 2,
    },
  }),
);
