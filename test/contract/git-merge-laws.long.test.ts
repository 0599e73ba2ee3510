/** The same test, with more of what can be generated. */
import './git-merge-laws.test.ts';
