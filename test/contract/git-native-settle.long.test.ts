/** All of `git-settle.long.test.ts`, where the native program settles beside the scripts. */
import './git-settle.long.test.ts';
import { besideRestores } from '../support/git-native-restore.ts';

besideRestores.native = { compared: 0, left: [] };
