import type { Command } from 'commander';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { helpText } from '../terminal/help-text.ts';
import { locksTable } from '../view/lock-views.ts';
import { statusWord } from '../view/saga-views.ts';
import { readLocks } from './lock-pages.ts';

const BREAK_EXAMPLE = `
Examples:
  walkback locks break s-1 customer:42 --reason "Its agent does not go on"`;

export const defineLocks = (locks: Command, app: App): void => {
  locks
    .command('list')
    .alias('ls')
    .argument('[saga]', 'only the locks of this saga', parseId)
    .description('list the locks that open sagas hold, and who waits for them')
    .action((sagaId: string | undefined, _: object, command: Command) =>
      withConnection(app, command, async (run) => {
        const found = await run.progress('Listing locks', () => readLocks(run, sagaId));
        return {
          value: { locks: found },
          text: () => locksTable(found, run.paint, run.terminal.now()),
        };
      }),
    );
  locks
    .command('break')
    .argument('<saga>', 'the saga that holds it', parseId)
    .argument('<resource>', 'the resource key, as locks list shows it')
    .description('take a lock from a saga that does not end; the next in line gets it')
    .requiredOption('--reason <text>', 'why; it goes into the ledger of the saga')
    .addHelpText('after', helpText(BREAK_EXAMPLE))
    .option('--by <who>', 'who acts (default: you)')
    .action(
      (sagaId: string, resourceKey: string, options: { reason: string; by?: string }, command: Command) =>
        withConnection(app, command, async (run) => {
          const answer = await run.progress('Breaking the lock', () =>
            run.invoke('walkback-operate-saga', {
              sagaId,
              action: 'break-lock',
              resourceKey,
              evidence: options.reason,
              by: operatorOf(run, options.by),
            }),
          );
          run.note(
            run.paint.yellow('! Nothing keeps what this saga still does apart from what others do now.'),
          );
          return {
            value: answer,
            text: () =>
              `Saga ${run.paint.bold(sagaId)}  ${statusWord(answer.status, run.paint)}  no longer holds ${resourceKey}\n`,
          };
        }),
    );
};
