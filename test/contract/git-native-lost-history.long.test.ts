/** All of `git-lost-history.test.ts`, where the native program restores beside the scripts. */
import './git-lost-history.test.ts';
import { besideRestores } from '../support/git-native-restore.ts';

besideRestores.native = { compared: 0, left: [] };
