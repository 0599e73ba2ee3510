import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Whole fault matrices and long random runs: `npm run test:long`. Seeds are printed; set the variable a test names to run one again. */
export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined } },
  defineConfig({
    test: {
      include: ['test/**/*.long.test.ts'],
      env: { ...base.test?.env, WALKBACK_WHOLE: '1' },
      testTimeout: 1_500_000,
      hookTimeout: 600_000,
      maxWorkers: 2,
    },
  }),
);
