/** The same tests, with more of their cases. */
import './faults-merge.test.ts';
