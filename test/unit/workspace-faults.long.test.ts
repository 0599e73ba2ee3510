/** The same tests, with every call. */
import './workspace-faults.test.ts';
