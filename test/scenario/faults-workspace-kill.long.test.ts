/** The same tests, with every operation and more kills. */
import './faults-workspace-kill.test.ts';
