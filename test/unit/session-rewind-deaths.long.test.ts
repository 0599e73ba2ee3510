/** Every call of a rewind of a session as the one at which its function dies, before and after it acted. */
import { testRewindDeaths } from '../support/rewind-deaths.ts';

testRewindDeaths();
