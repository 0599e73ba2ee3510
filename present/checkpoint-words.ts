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

/** Whether the repository differs in files, beside the files, or because only one side has it. */
export const doesDiffer = ({ files, host, change }: DiffAnswer['repositories'][number]): boolean =>
  files > 0 || host !== undefined || change !== undefined;
