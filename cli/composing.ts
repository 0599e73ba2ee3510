/** The course of a command that composes a state: its plan, the question, the call, and how to undo it. */
import type { RollbackAnswer } from '../contract/rollback-answers.ts';
import type { Answer, Run } from './app.ts';
import { epochWords, fromWords } from './decided.ts';
import { CliError } from './failure.ts';
import { underwayAs } from './interruption.ts';
import { repositoriesLocation } from './session-place.ts';
import { confirm } from './terminal/confirm.ts';
import { doneMerge, plannedMerge } from './view/merge-view.ts';
import { warningLines } from './view/rollback-view.ts';
import { withWhere } from './where-words.ts';
import { withProgress } from './with-progress.ts';

/** The answer of a merge has more fields, and one more status. */
type Composed = Omit<RollbackAnswer, 'status'> & {
  status: RollbackAnswer['status'] | 'NOTHING';
  from?: { checkpointId: string };
};

/**
 * What the plan showed: the epoch of the session that is to change, and the checkpoint of the session whose
 * work comes.
 */
interface Decided {
  epoch?: number;
  fromCheckpointId?: string;
}

interface Composing {
  /** The session that is to change. */
  sessionId: string;
  requestId: string;
  /** The epoch in which it was decided. Default: that of the plan that is shown. */
  epoch: number | undefined;
  /** For a merge: the checkpoint whose work was looked at. Default: that of the plan that is shown. */
  fromCheckpointId?: string | undefined;
  dryRun: boolean;
  yes: boolean;
  /** Texts for a person: what is planned, and what was done. */
  title: string;
  done: string;
  question: string;
  /** The same command, without `--request` and `--yes`. */
  words: readonly string[];
  ask: (how: Decided & { dryRun?: true }) => Promise<Composed>;
}

export const composing = async (run: Run, how: Composing): Promise<Answer> => {
  if (run.json && !how.yes && !how.dryRun) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  let decided: Decided = {
    ...(how.epoch === undefined ? {} : { epoch: how.epoch }),
    ...(how.fromCheckpointId === undefined ? {} : { fromCheckpointId: how.fromCheckpointId }),
  };
  const look = { paint: run.paint, width: run.width };
  const ended = (answer: Composed): Answer => {
    if (answer.status === 'NOTHING') {
      const lines = warningLines(answer, run.paint);
      const what =
        lines.length === 0
          ? 'Nothing to do: it has no work that is not there already.'
          : 'Nothing to do: what its last checkpoint holds is there already, or was brought before.';
      return { value: answer, text: () => `${[what, ...lines].join('\n')}\n` };
    }
    const { undoCheckpointId } = answer;
    const undo =
      undoCheckpointId === null
        ? undefined
        : withWhere(`walkback undo --session ${how.sessionId}`, run.options);
    return {
      value: { ...answer, requestId: how.requestId, undoCommand: undo },
      text: () => doneMerge(answer, how.done, undo, look),
    };
  };
  if (how.dryRun || !how.yes) {
    const plan = await withProgress(run, how.sessionId, 'Planning', () =>
      how.ask({ ...decided, dryRun: true }),
    );
    // A finished request answers what it did.
    if (plan.status !== 'PLANNED') return ended(plan);
    const text = plannedMerge(plan, how.title, look);
    const from = plan.from?.checkpointId;
    if (how.dryRun) return { value: plan, text: () => text };
    run.note(text);
    // With conflicts, the call itself refuses with an error of its own.
    const isAsked = (plan.conflicts ?? []).length === 0;
    const question = async () =>
      `${how.question} in ${await repositoriesLocation(run, how.sessionId, undefined)}?`;
    if (isAsked && !(await confirm(run.terminal, question))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
    // What is confirmed is the plan that was shown.
    decided = { epoch: plan.epoch, ...(from !== undefined && { fromCheckpointId: from }) };
  }
  const words = [...how.words, ...epochWords(decided.epoch), ...fromWords(decided.fromCheckpointId)];
  run.underway({
    ...underwayAs(how.requestId),
    hint: `${words.join(' ')} --request ${how.requestId} --yes finishes it`,
  });
  return ended(await withProgress(run, how.sessionId, how.title, () => how.ask(decided)));
};
