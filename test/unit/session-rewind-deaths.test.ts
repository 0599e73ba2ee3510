/** A sample of session-rewind-deaths.long.test.ts. */
import { testRewindDeaths } from '../support/rewind-deaths.ts';

testRewindDeaths();
