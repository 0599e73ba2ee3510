/** The same tests, with a fault at every call. */
import './merge-convergence.test.ts';
