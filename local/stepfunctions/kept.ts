/**
 * What is kept in memory of executions that have ended: everything of the newest, and of older ones only that
 * they existed, so that no name runs twice.
 */
interface Ended {
  executionArn: string;
  output?: string;
  cause?: string;
}

/** AWS keeps all of them for 90 days. Here thousands of histories would fill the memory. */
const KEPT = 500;

/** `forget` drops the rest of an execution's data. */
export const createKept = (forget: (executionArn: string) => void, count = KEPT) => {
  const newest: Ended[] = [];
  return {
    ended: (execution: Ended): void => {
      newest.push(execution);
      const oldest = newest.length > count ? newest.shift() : undefined;
      if (oldest === undefined) return;
      delete oldest.output;
      delete oldest.cause;
      forget(oldest.executionArn);
    },
  };
};
