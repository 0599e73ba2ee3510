import { DAY_SECONDS } from '../../contract/times.ts';

/** One function serves all of these tools, so they have one deadline: the function ends after it, and before the machine gives up. */
export const TIMEOUT_SECONDS = 600;

/** How long a request is known under its id: at least as long as a session is kept. */
export const KNOWN_SECONDS = DAY_SECONDS;
