/** JSONata and nothing around it: what runs an expression, here or in a process of its own. */
import jsonata from 'jsonata';

/** What JSONata itself looks at. It interrupts no regular expression and no built-in function, and counts no memory. */
const LIMITS = { timeout: 1_000, stack: 200, sequence: 100_000 };

/** `text`: the value as JSON; its arrays carry hidden members. */
export type Evaluated = { text: string } | { problem: string };

const reasonOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'message' in cause ? String(cause.message) : String(cause);

export const evaluateToText = async (source: string, scope: unknown): Promise<Evaluated> => {
  try {
    const value: unknown = await jsonata(source, LIMITS).evaluate(scope);
    const text = typeof value === 'function' ? undefined : JSON.stringify(value);
    return text === undefined
      ? { problem: `${source} has no value; use a step's result or the input that has it` }
      : { text };
  } catch (cause) {
    return { problem: `${source} failed: ${reasonOf(cause)}` };
  }
};
