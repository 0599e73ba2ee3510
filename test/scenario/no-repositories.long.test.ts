/** The same tests, with all of their cases. */
import './no-repositories.test.ts';
