import type { Command } from 'commander';
import { printableLine } from '../../present/text.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { approvalLines, statusWord } from '../view/saga-views.ts';
import { noteWarnings } from '../warnings.ts';

const PAST = { approve: '  approved', reject: '  rejected' } as const;

const addAnswer = (parent: Command, app: App, decision: 'approve' | 'reject'): void => {
  parent
    .command(decision)
    .argument('<saga>', 'saga id', parseId)
    .argument('<step>', 'the step that waits')
    .description(
      decision === 'approve' ? 'let a waiting step go on' : 'end a saga that waits; what was done is undone',
    )
    .option('--by <who>', 'who decides (default: you)')
    .option('--note <text>', 'goes into the ledger')
    .action((sagaId: string, stepId: string, options: { by?: string; note?: string }, command: Command) =>
      withConnection(app, command, async (run) => {
        const { awaiting } = await run.invoke('walkback-describe-saga', { sagaId });
        const answer = await run.invoke('walkback-answer', {
          sagaId,
          stepId,
          decision,
          ...(awaiting?.step === stepId && awaiting.epoch !== undefined ? { epoch: awaiting.epoch } : {}),
          by: operatorOf(run, options.by),
          ...(options.note === undefined ? {} : { note: options.note }),
        });
        noteWarnings(run, answer);
        return {
          value: answer,
          text: () => {
            const first = answer.answered;
            const before =
              awaiting?.step === stepId
                ? []
                : [`${PAST[decision]} before, by ${printableLine(first.by)} at ${first.at}`];
            const asked =
              awaiting?.step === stepId
                ? [PAST[decision], ...approvalLines(awaiting, run.paint, run.width)]
                : [];
            const saga = `Saga ${run.paint.bold(sagaId)}  ${statusWord(answer.status, run.paint)}`;
            return `${[saga, ...asked, ...before].join('\n')}\n`;
          },
        };
      }),
    );
};

export const addSagaAnswers = (parent: Command, app: App): void => {
  addAnswer(parent, app, 'approve');
  addAnswer(parent, app, 'reject');
};
