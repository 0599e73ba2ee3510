import { inspect } from 'node:util';

/** The same `onError`, made safe: when it fails itself, both errors go to stderr, and no call or process ends. */
export const heard =
  (onError: (error: unknown) => void) =>
  (error: unknown): void => {
    try {
      onError(error);
    } catch (thrown) {
      process.stderr.write(`onError failed: ${inspect(thrown)}\nIt was told: ${inspect(error)}\n`);
    }
  };
