import { printableLine } from '../present/text.ts';
import type { Run } from './app.ts';

/** Warnings of an answer, on the error stream: standard output is for the answer itself. */
export const noteWarnings = (run: Run, { warnings = [] }: { warnings?: readonly string[] | undefined }) => {
  for (const warning of warnings) run.note(run.paint.yellow(`! ${printableLine(warning)}`));
};
