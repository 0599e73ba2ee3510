/** The same tests, with half of their cases, the other half at another time. */
import './git-paths-cases.test.ts';
