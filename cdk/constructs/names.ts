/** Names that are made from somebody's choice. Bad ones are refused here, not halfway through a deployment. */
import { FUNCTIONS } from '../functions.ts';

const MAX_FUNCTION_NAME = 64;
/**
 * The strictest limit of all: a state machine's name may have 80 characters, an event bus's 256, an alarm's
 * 255, a log group's 512.
 */
const MAX_PREFIX = MAX_FUNCTION_NAME - 1 - Math.max(...FUNCTIONS.map(({ name }) => name.length));

export const checkNamePrefix = (namePrefix: string): void => {
  if (/^[A-Za-z][A-Za-z0-9-]*$/.test(namePrefix) && namePrefix.length <= MAX_PREFIX) return;
  throw new Error(
    `namePrefix ${JSON.stringify(namePrefix)}: a letter, then letters, digits and hyphens, at most ${MAX_PREFIX} together`,
  );
};

/** The name is used in policies: a wildcard in it would let sagas call everything. */
export const checkToolFunction = (name: string): void => {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return;
  throw new Error(`toolFunctions: ${JSON.stringify(name)} is not the name of a function`);
};
