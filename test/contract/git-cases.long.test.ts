/** The same tests, with all of their cases. */
import './git-cases.test.ts';
