/** The same tests, with ten times as many files. */
import './git-size.test.ts';
