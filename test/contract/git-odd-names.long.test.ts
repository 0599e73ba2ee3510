/** The same tests, with all of their cases. */
import './git-odd-names.test.ts';
