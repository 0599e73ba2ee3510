/** What tests ask of an error: its name, and what its message contains or matches. */
import { expect } from 'vitest';

const saying = (text: string | RegExp): unknown =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);

export const errorOf = (name: string, text: string | RegExp) => ({ name, message: saying(text) });

/** The same of an error that a function answered. */
export const answered = (errorType: string, text: string | RegExp) => ({ errorType, message: saying(text) });
