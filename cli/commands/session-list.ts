import type { Command } from 'commander';
import { printableLine } from '../../present/text.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { listAllSessions } from '../session.ts';
import { sessionTable } from '../view/session-views.ts';

export const addSessionList = (parent: Command, app: App): void => {
  parent
    .command('list')
    .alias('ls')
    .description('list the sessions, newest first')
    .option('--all', 'ended ones too')
    .option('--project <name>', 'only those of this project')
    .action((options: { all?: boolean; project?: string }, command: Command) =>
      withConnection(app, command, async (run) => {
        const all = await run.progress('Listing sessions', () => listAllSessions(run.invoke));
        const { project } = options;
        const sessions = project === undefined ? all : all.filter((one) => one.project === project);
        const shown = options.all === true ? sessions : sessions.filter(({ status }) => status === 'active');
        const ended = sessions.length - shown.length;
        if (ended > 0) run.note(run.paint.dim(`${ended} ended, shown with --all`));
        return {
          value: { sessions: shown },
          text: () =>
            shown.length === 0 && project !== undefined
              ? `No sessions of the project ${printableLine(project)}.\n`
              : sessionTable(shown, run.paint, run.width, run.terminal.now()),
        };
      }),
    );
};
