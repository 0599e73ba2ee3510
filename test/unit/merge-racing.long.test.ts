/** The same tests, at every instant. */
import './merge-racing.test.ts';
