/** Most of the faults of which `git-late-faults.test.ts` runs a sample. */
import './git-late-faults.test.ts';
