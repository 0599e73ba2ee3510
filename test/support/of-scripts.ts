/** Tests of what only the scripts below `sandbox/restore` do. They go when the scripts go. */
import { isNativeAlone } from './git-native-restore.ts';

/**
 * Options of a test about a step of the scripts: a program that only they start, or a file below `.agent-shadow` that only
 * they write. Shown as skipped where the native program restores. `skip: false` would also play one whose file has not its
 * turn.
 */
export const OF_SCRIPTS: { skip?: true } = isNativeAlone ? { skip: true } : {};
