/** The same tests, with all of their cases, or most. */
import './saga-tree-properties.test.ts';
