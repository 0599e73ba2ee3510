/** The same tests, with many more limits. */
import './git-low-memory.test.ts';
