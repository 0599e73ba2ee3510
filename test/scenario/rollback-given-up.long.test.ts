/** The same tests, with both ways. */
import './rollback-given-up.test.ts';
