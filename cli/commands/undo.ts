import type { Command } from 'commander';
import { undoHistory } from '../../core/checkpoint/timeline/undo-history.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { parseId } from '../options.ts';
import { type RollbackOptions, requireAnswerable, rollBack } from '../rolling-back.ts';
import { resolveSession } from '../session.ts';
import { readTimeline } from '../timeline.ts';

type Options = Pick<RollbackOptions, 'dryRun' | 'yes' | 'request'> & { session?: string };

/** Enough for any session that people look at; what is older than this is not looked for. */
const MOST_CHECKPOINTS = 5000;

const NOTHING = {
  undo: {
    message: 'Nothing to undo: no rollback of this session stands.',
    hint: 'walkback rollback --to POINT goes back to a message; walkback redo makes an undone rollback again',
  },
  redo: {
    message: 'Nothing to redo: the last thing that happened to this session is no undo.',
    hint: 'walkback log shows every checkpoint; walkback rollback --to POINT goes to any of them',
  },
};

type Way = keyof typeof NOTHING;

const define =
  (way: Way, description: string, help: string) =>
  (defined: Command, app: App): void => {
    defined
      .description(description)
      .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
      .option('--dry-run', 'show the plan only')
      .option('--request <id>', 'request id, to repeat the same request safely', parseId)
      .option('-y, --yes', 'do not ask')
      .addHelpText('after', help)
      .action(({ session, ...options }: Options, command: Command) =>
        withConnection(app, command, async (run) => {
          requireAnswerable(run, options);
          const sessionId = await resolveSession(run, session);
          const timeline = await run.progress('Reading the timeline', () =>
            readTimeline(run, sessionId, MOST_CHECKPOINTS),
          );
          const seq = undoHistory(timeline.checkpoints, timeline.session.headSeq)[way];
          const target = timeline.checkpoints.find((checkpoint) => checkpoint.seq === seq);
          if (target === undefined) {
            const { message, hint } = NOTHING[way];
            throw new CliError('CheckpointNotFound', message, { hint });
          }
          return rollBack(run, sessionId, { ...options, to: target.checkpointId });
        }),
      );
  };

export const defineUndo = define(
  'undo',
  'Take back the last rollback that stands: all repositories are as they were just before it. Again: the one ' +
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
