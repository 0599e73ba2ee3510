/**
 * Runs `work` until it ends, or until the signal aborts, which rejects with the signal's reason. The work
 * itself is not stopped: when it is repeated it completes, and the process ends soon.
 */
export const untilInterrupted = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work(), promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/** For a call whose id the command made itself: the same command without this id would begin another call. */
export const underwayAs = (id: string, option: 'request' | 'id' = 'request') => ({
  message: `Interrupted. It may be done, begun or neither: ${option} ${id}.`,
  hint: `the same command with --${option} ${id} finishes it`,
});
