import { inspect } from 'node:util';

/** The same `onError`; when it fails itself, stderr is told both errors, and no call and no process ends. */
export const heard =
  (onError: (error: unknown) => void) =>
  (error: unknown): void => {
    try {
      onError(error);
    } catch (thrown) {
      process.stderr.write(`onError failed: ${inspect(thrown)}\nIt was told: ${inspect(error)}\n`);
    }
  };
