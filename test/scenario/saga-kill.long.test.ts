/** The same tests, with all of their cases, or most. */
import './saga-kill.test.ts';
