/** A sixth of the faults of which `git-late-faults.test.ts` runs a sample: another sixth with each seed. */
import './git-late-faults.test.ts';
