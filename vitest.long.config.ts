import { globSync } from 'node:fs';
import { defineConfig, mergeConfig } from 'vitest/config';
import { IN_TURN } from './test/support/sampling.ts';
import base from './vitest.config.ts';

/** Files that `npm test` plays in part, and that have no longer form. */
const IN_PART = ['checkpoint-concurrency', 'client-session', 'merge', 'rollback-refused'];

/** Those that take turns in `npm test`, unless a longer form of them runs here. */
const withoutLongerForm = IN_TURN.filter(
  (name) => globSync(`test/{contract,scenario}/${name}.long.test.ts`).length === 0,
);

/** Whole fault matrices and long random runs: `npm run test:long`. Seeds are printed; set the variable a test names to run one again. */
export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined } },
  defineConfig({
    test: {
      include: [
        'test/**/*.long.test.ts',
        `test/{contract,scenario}/{${[...IN_PART, ...withoutLongerForm].join(',')}}.test.ts`,
      ],
      env: { ...base.test?.env, WALKBACK_WHOLE: '1' },
      testTimeout: 1_500_000,
      hookTimeout: 600_000,
      maxWorkers: 2,
    },
  }),
);
