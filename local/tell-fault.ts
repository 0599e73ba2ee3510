/**
 * Writes to stderr why a server of the embedded cloud could not answer. An error of the system is written
 * without the place in our code.
 */
export const tellFault = (server: string, error: unknown): void => {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  if (isOfSystem) console.error(`${server}: ${error.message}`);
  else console.error(`${server}:`, error);
};
