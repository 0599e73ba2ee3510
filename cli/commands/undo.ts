import type { Command } from 'commander';
import { findUndo, NOTHING, type Way } from '../../client/undo.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { epochOption } from '../decided.ts';
import { CliError } from '../failure.ts';
import { parseId } from '../options.ts';
import { type RollbackOptions, requireAnswerable, rollBack } from '../rolling-back.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';

type Options = Pick<RollbackOptions, 'allowPartial' | 'dryRun' | 'yes' | 'request' | 'epoch'> & {
  session?: string;
};

const HINTS: Record<Way, string> = {
  undo: 'walkback rollback --to POINT goes back to a message; walkback redo makes an undone rollback again',
  redo: 'walkback log shows every checkpoint; walkback rollback --to POINT goes to any of them',
};

const define =
  (way: Way, description: string, help: string) =>
  (defined: Command, app: App): void => {
    defined
      .description(description)
      .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
      .option('--dry-run', 'show the plan only')
      .option('--allow-partial', 'accept a checkpoint that does not hold everything')
      .option('--request <id>', 'request id, to repeat the same request safely', parseId)
      .addOption(epochOption())
      .option('-y, --yes', 'do not ask')
      .addHelpText('after', helpText(help))
      .action(({ session, ...options }: Options, command: Command) =>
        withConnection(app, command, async (run) => {
          requireAnswerable(run, options);
          const sessionId = await resolveSession(run, session);
          const found = await run.progress('Reading the timeline', () =>
            findUndo(way, (page) => run.invoke('walkback-timeline', { sessionId, ...page }), options.epoch),
          );
          if (found === undefined)
            throw new CliError('CheckpointNotFound', NOTHING[way], { hint: HINTS[way] });
          const { checkpointId: to, epoch } = found;
          return rollBack(run, sessionId, { ...options, way, epoch, to });
        }),
      );
  };

export const defineUndo = define(
  'undo',
  'Take back the last rollback, merge or revert that stands: all repositories are as they were just before it. Again: the one ' +
    'before it. It shows the plan and asks.',
  `
Examples:
  walkback undo
  walkback undo --yes && walkback redo --yes

Work that was done after the rollback is captured first; walkback redo brings it back.
Only files, branches and index go back: effects of sagas are taken back by walkback rewind.`,
);

export const defineRedo = define(
  'redo',
  'Make the rollback again that walkback undo took back last. New checkpoints after the undo end that.',
  `
Examples:
  walkback redo`,
);
