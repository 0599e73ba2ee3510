import type { ToolFunctions } from '../../core/saga/ports.ts';

/** Functions of tools that are all there, and end after so many seconds. */
export const endingAfter = (timeoutSeconds: number): ToolFunctions => ({
  look: async () => ({ state: 'there', timeoutSeconds }),
});
