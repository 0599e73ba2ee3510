/** The same tests, with all of their cases. */
import './git-damage.test.ts';
