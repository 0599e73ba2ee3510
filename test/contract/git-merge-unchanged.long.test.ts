/** The same tests, with all of their cases. */
import './git-merge-unchanged.test.ts';
