import { type Command, Option } from 'commander';
import { SAGA_STATUSES, type SagaStatus, type SagaSummary } from '../../contract/saga-answers.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseWholeNumber } from '../options.ts';
import { sagaTable } from '../view/saga-views.ts';

export const addSagaList = (parent: Command, app: App): void => {
  const show = (options: { status?: SagaStatus; limit: number }, command: Command) =>
    withConnection(app, command, async (run) => {
      const answer: { sagas: SagaSummary[] } = await run.progress('Listing sagas', () =>
        run.invoke('walkback-list-sagas', {
          limit: options.limit,
          ...(options.status === undefined ? {} : { status: options.status }),
        }),
      );
      return { value: answer, text: () => sagaTable(answer.sagas, run.paint, run.terminal.now()) };
    });

  parent
    .command('list')
    .alias('ls')
    .description('list sagas, those that need a person first')
    .addOption(new Option('--status <status>', 'only of this status').choices(SAGA_STATUSES))
    .option('-n, --limit <n>', 'at most this many', parseWholeNumber(1, 1000), 50)
    .action((options: { status?: SagaStatus; limit: number }, command: Command) => show(options, command));
  parent
    .command('queue')
    .description('list the sagas that wait until their project has room, longest first')
    .option('-n, --limit <n>', 'at most this many', parseWholeNumber(1, 1000), 50)
    .action((options: { limit: number }, command: Command) =>
      show({ ...options, status: 'QUEUED' }, command),
    );
};
