/** The same tests, with all of their cases, or most. */
import './faults-rollback.test.ts';
