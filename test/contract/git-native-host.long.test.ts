/** What happens beside the files, and histories that were lost, where the native program restores beside the scripts. */
import './git-host-plan.test.ts';
import './git-lost-history.test.ts';
import './git-merge-nested.test.ts';
import './git-symrefs.test.ts';
import { besideRestores } from '../support/git-native-restore.ts';

besideRestores.native = { compared: 0, left: [] };
