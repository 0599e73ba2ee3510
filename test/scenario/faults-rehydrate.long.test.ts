/** The same tests, with all of their cases, or most. */
import './faults-rehydrate.test.ts';
