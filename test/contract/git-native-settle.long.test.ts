/** All of `git-settle.test.ts`, where the native program restores and settles. */
import './git-settle.test.ts';
import { besideRestores } from '../support/git-native-restore.ts';

besideRestores.native = { compared: 0, left: [], isAlone: true };
