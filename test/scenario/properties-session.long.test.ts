/** The same tests, with all of their cases, or most. */
import './properties-session.test.ts';
