import type { Command } from 'commander';
import type { Observation } from '../../contract/saga-observation.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { isAtRest, watchFailure } from '../ending.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { observationText, sagaTree } from '../view/saga-views.ts';

/** One call of the function waits this long. Watching is a series of such calls. */
const WAIT_SECONDS = 20;

const watch = async (run: Run, sagaId: string, seconds: number): Promise<Observation> => {
  const end = run.terminal.now().getTime() + seconds * 1000;
  for (;;) {
    const leftSeconds = Math.max(0, (end - run.terminal.now().getTime()) / 1000);
    const seen = await run.invoke('walkback-describe-saga', {
      sagaId,
      subject: true,
      waitSeconds: Math.min(WAIT_SECONDS, leftSeconds),
    });
    if (isAtRest(seen) || leftSeconds === 0) return seen;
  }
};

export const addSagaShow = (parent: Command, app: App): void => {
  parent
    .command('show')
    .argument('<saga>', 'saga id', parseId)
    .description('show which steps stand, which were undone, and what remains')
    .option('--settled', 'show the state before the saga or after it, never a state in between')
    .action((sagaId: string, { settled }: { settled?: boolean }, command: Command) =>
      withConnection(app, command, async (run) => {
        const projection = settled === true ? { projection: 'settled' as const } : {};
        const seen = await run.invoke('walkback-describe-saga', { sagaId, subject: true, ...projection });
        return { value: seen, text: () => observationText(seen, run.paint, run.width) };
      }),
    );
  parent
    .command('tree')
    .argument('<saga>', 'saga id', parseId)
    .description('show the sagas that a saga runs as steps')
    .action((sagaId: string, _: unknown, command: Command) =>
      withConnection(app, command, async (run) => {
        const seen = await run.invoke('walkback-describe-saga', { sagaId, subject: true });
        const { status, children = [] } = seen;
        return { value: { sagaId, status, children }, text: () => sagaTree(seen, run.paint) };
      }),
    );
  parent
    .command('watch')
    .argument('<saga>', 'saga id', parseId)
    .description(
      'wait until the saga ends or needs somebody, then show it; fails when a compensation failed, or time is over',
    )
    .option('--timeout <seconds>', 'wait this long at most', parseWholeNumber(1, DAY_SECONDS), 600)
    .action((sagaId: string, options: { timeout: number }, command: Command) =>
      withConnection(app, command, async (run) => {
        const seen = await run.progress('Waiting for the saga', () => watch(run, sagaId, options.timeout));
        const text = () => observationText(seen, run.paint, run.width);
        return { value: seen, text, failure: watchFailure(seen) };
      }),
    );
};
