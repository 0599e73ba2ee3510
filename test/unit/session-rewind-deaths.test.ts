/**
 * Every call of a rewind of a session as the one at which its function dies, before and after it acted. A sample, others each
 * time; all of them in `npm run test:long`.
 */
import { testRewindDeaths } from '../support/rewind-deaths.ts';

testRewindDeaths();
