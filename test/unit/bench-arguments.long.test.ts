/** The same tests, with all of their cases. */
import './bench-arguments.test.ts';
