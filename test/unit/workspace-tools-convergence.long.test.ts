/** The same tests, with every other of their cases. */
import './workspace-tools-convergence.test.ts';
