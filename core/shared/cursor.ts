import { WalkbackError } from './errors.ts';

/** Every list refuses a cursor with this that it did not give: of another query, changed, or past the end. */
export const badCursor = (cause?: unknown): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    'cursor: take it from the answer before, with the other fields as they were.',
    { cause, details: { fields: ['cursor'] } },
  );
