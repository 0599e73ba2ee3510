import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Files that `npm test` plays in turn, or in part, and that have no longer form: see test/support/sampling.ts. */
const IN_TURN = [
  'checkpoint-concurrency',
  'checkpoint-large',
  'checkpoint-round-trips',
  'cli-alone',
  'cli-demo',
  'cli-own-functions',
  'client-session',
  'commitments',
  'ledger-anchors',
  'merge',
  'rehydrate-copies',
  'rewind',
  'rollback-late',
  'rollback-refused',
  'saga-children',
  'saga-limits',
  'workspace-tools',
];

/** Whole fault matrices and long random runs: `npm run test:long`. Seeds are printed; set the variable a test names to run one again. */
export default mergeConfig(
  { ...base, test: { ...base.test, projects: undefined } },
  defineConfig({
    test: {
      include: ['test/**/*.long.test.ts', `test/scenario/{${IN_TURN.join(',')}}.test.ts`],
      env: { ...base.test?.env, WALKBACK_WHOLE: '1' },
      testTimeout: 1_500_000,
      hookTimeout: 600_000,
      maxWorkers: 2,
    },
  }),
);
