/** The same tests, with all of their cases, or most. */
import './faults-process-kill.test.ts';
