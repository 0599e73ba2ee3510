/** Progress of the program: lines of standard error. What is no such line is left to others. Pure. */
import { sandboxProgress } from '../../../contract/sandbox/reports.ts';
import type { WorkDone } from '../../../core/checkpoint/model.ts';
import type { ProgressHooks } from '../../../core/checkpoint/ports/capture.ts';
import type { CommandOptions } from '../../../core/checkpoint/ports/sandbox.ts';

export const PROGRESS_PREFIX = 'walkback-progress ';
/** A longer line is not the program's own. */
const MAX_LINE_CHARS = 500;

/** Undefined for every other line, and for one that says what the program never says. */
export const progressOf = (line: string): WorkDone | undefined => {
  if (!line.startsWith(PROGRESS_PREFIX) || line.length > MAX_LINE_CHARS) return undefined;
  try {
    const { data } = sandboxProgress.safeParse(JSON.parse(line.slice(PROGRESS_PREFIX.length)));
    return data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
};

/** What a command listens to, where somebody wants to hear of its progress. */
export const listening = ({ onProgress }: ProgressHooks): Pick<CommandOptions, 'onErrorLine'> => {
  if (onProgress === undefined) return {};
  const onErrorLine = (line: string): void => {
    const done = progressOf(line);
    if (done !== undefined) onProgress(done);
  };
  return { onErrorLine };
};
