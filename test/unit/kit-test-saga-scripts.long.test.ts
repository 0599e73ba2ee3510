/** The same tests, with every failure. */
import './kit-test-saga-scripts.test.ts';
