/** The same tests, with many instants. */
import './saga-inline-kill.test.ts';
