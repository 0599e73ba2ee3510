/**
 * Runs `work` until it ends or the signal is aborted, which rejects with the signal's reason. The work itself
 * is not stopped: what it began converges when it is repeated, and the process ends soon.
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

/** Of a call whose id the command made itself: the same words without it would begin another one. */
export const underwayAs = (id: string, option: 'request' | 'id' = 'request') => ({
  message: `Interrupted. It may be done, begun or neither: ${option} ${id}.`,
  hint: `the same command with --${option} ${id} finishes it`,
});
