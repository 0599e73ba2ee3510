import type { Command } from 'commander';
import type { Observation } from '../../contract/saga-answers.ts';
import { TERMINAL_STATUSES } from '../../core/saga/model/head.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { observationText, sagaTree } from '../view/saga-views.ts';

/** One call of the function waits this long; a watch is a row of them. */
const WAIT_SECONDS = 20;

const hasEnded = ({ status }: Observation): boolean => TERMINAL_STATUSES.some((one) => one === status);

const watch = async (run: Run, sagaId: string, seconds: number): Promise<Observation> => {
  const end = run.terminal.now().getTime() + seconds * 1000;
  for (;;) {
    const leftSeconds = Math.max(0, (end - run.terminal.now().getTime()) / 1000);
    const seen = await run.invoke('walkback-describe-saga', {
      sagaId,
      waitSeconds: Math.min(WAIT_SECONDS, leftSeconds),
    });
    const isIdle = seen.interactive?.what === 'next-step' || seen.interactive?.what === 'parked';
    const isAsked = seen.awaiting !== undefined || seen.awaitingBelow !== undefined;
    if (hasEnded(seen) || isIdle || isAsked || leftSeconds === 0) return seen;
  }
};

export const addSagaShow = (parent: Command, app: App): void => {
  parent
    .command('show')
    .argument('<saga>', 'saga id', parseId)
    .description('show which steps stand, which were undone, and what remains')
    .option('--settled', 'as before the saga or as after it, never what is only there while it runs')
    .action((sagaId: string, { settled }: { settled?: boolean }, command: Command) =>
      withConnection(app, command, async (run) => {
        const projection = settled === true ? { projection: 'settled' as const } : {};
        const seen = await run.invoke('walkback-describe-saga', { sagaId, ...projection });
        return { value: seen, text: () => observationText(seen, run.paint, run.width) };
      }),
    );
  parent
    .command('tree')
    .argument('<saga>', 'saga id', parseId)
    .description('show the sagas that a saga runs as steps')
    .action((sagaId: string, _: unknown, command: Command) =>
      withConnection(app, command, async (run) => {
        const seen = await run.invoke('walkback-describe-saga', { sagaId });
        const { status, children = [] } = seen;
        return { value: { sagaId, status, children }, text: () => sagaTree(seen, run.paint) };
      }),
    );
  parent
    .command('watch')
    .argument('<saga>', 'saga id', parseId)
    .description('wait until the saga ends or needs a person, then show it; fails when a compensation failed')
    .option('--timeout <seconds>', 'wait this long at most', parseWholeNumber(1, 86_400), 600)
    .action(async (sagaId: string, options: { timeout: number }, command: Command) => {
      let left = 0;
      await withConnection(app, command, async (run) => {
        const seen = await run.progress('Waiting for the saga', () => watch(run, sagaId, options.timeout));
        if (seen.status === 'COMPENSATION_FAILED') left = seen.notCompensated.length;
        return { value: seen, text: () => observationText(seen, run.paint, run.width) };
      });
      // The answer is shown first: it lists what is left.
      if (left > 0) {
        throw new CliError('CompensationFailed', `${left} effects could not be undone.`, {
          hint: `walkback saga retry ${sagaId}, or resolve or skip each step`,
        });
      }
    });
};
