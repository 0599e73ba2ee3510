/** The same tests, with all of their cases. */
import './checkpoint-convergence.test.ts';
