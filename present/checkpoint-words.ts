/** What checkpoints and comparisons are called. */
import type { DiffAnswer } from '../contract/change-answers.ts';
import type { TimelineCheckpoint } from '../contract/checkpoint-answers.ts';

export const shortCheckpointId = (seq: number): string => `cp-${seq}`;

/** Why the checkpoint was taken, in words. It was taken before the tool that the text names. */
export const whyTaken = (
  checkpoint: Pick<TimelineCheckpoint, 'reason' | 'toolExecutionId' | 'tool'>,
): string => {
  switch (checkpoint.reason) {
    case 'baseline':
      return 'session start';
    case 'rollback':
      return 'undo point';
    case 'manual':
      return 'by hand';
    case 'discard':
      return 'before it was discarded';
    case 'before-tool':
      return `before ${checkpoint.tool?.name ?? checkpoint.toolExecutionId}`;
    default:
      return checkpoint.reason;
  }
};

const MADE: ReadonlyMap<string, string> = new Map([
  ['merge', 'merged the work of another session'],
  ['revert', 'took back one message'],
  ['partial-rollback', 'rolled back some paths'],
  ['late-writes', 'what another process wrote meanwhile'],
]);

/** What made the state of a checkpoint, where it was no work of an agent. */
export const whatMade = ({ reason }: Pick<TimelineCheckpoint, 'reason'>): string | undefined =>
  MADE.get(reason);

/** For changes without a tool call: an agent need not say what it runs, and people work too. */
export const NO_CALL = 'Changed outside a recorded tool call';

/** Whether the repository differs in files, beside the files, or because only one side has it. */
export const doesDiffer = ({ files, host, change }: DiffAnswer['repositories'][number]): boolean =>
  files > 0 || host !== undefined || change !== undefined;
