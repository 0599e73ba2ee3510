/** All that is tested of merges, reverts and rollbacks of some paths, where the native program composes beside the scripts. */
import './git-merge.test.ts';
import './git-merge-nested.test.ts';
import './git-merge-unchanged.test.ts';
import './git-unseen.test.ts';
import { beforeAll } from 'vitest';
import { besideComposes } from '../support/git-native-compose.ts';
import { BUILT, canBuildNext } from '../support/next-program.ts';

if (canBuildNext()) {
  besideComposes.native = new Map();
  beforeAll(...BUILT);
} else {
  process.stdout.write('git-native-merges: cargo is missing, so only the scripts compose\n');
}
