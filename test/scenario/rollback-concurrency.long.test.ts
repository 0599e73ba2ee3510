/** The same tests, with all of their cases. */
import './rollback-concurrency.test.ts';
