import type { Command } from 'commander';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { choosePoint } from '../choose-point.ts';
import { checkpointOption, epochOption } from '../decided.ts';
import { collectPaths, parseId } from '../options.ts';
import { type RollbackOptions, requireAnswerable, rollBack } from '../rolling-back.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';

type Options = Omit<RollbackOptions, 'to'> & { session?: string; to?: string };

const EXAMPLES = `
Examples:
  walkback rollback                         choose from the timeline
  walkback rollback --to msg-2 --dry-run    what would be written and deleted
  walkback rollback --to msg-2              shows the plan, asks, does it
  walkback rollback --to cp-7 --yes         does it; walkback log shows cp-7
  walkback rollback --to msg-2 --path api/src   only this comes back; all else stays

Every repository goes back, or none does. What is there now is captured first;
walkback undo brings it back. The
same --request again finishes what it began.`;

export const defineRollback = (rollback: Command, app: App): void => {
  rollback
    .description('Put all repositories of a session back to a message or checkpoint, or none of them.')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option(
      '--to <point>',
      'message id, checkpoint id (cp-7 will do), or head (default: choose on the terminal)',
    )
    .option('--dry-run', 'show the plan only')
    .option('--files-only', 'leave HEAD, branches and index as they are')
    .option('--allow-partial', 'accept a checkpoint that does not hold everything')
    .option('--path <path>', 'only this file, directory or repository; may be given again', collectPaths)
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .addOption(epochOption())
    .addOption(checkpointOption())
    .option('--sandbox <id>', "a review copy's sandbox (default: the session's)", parseId)
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        requireAnswerable(run, options);
        const sessionId = await resolveSession(run, options.session);
        const to = options.to ?? (await choosePoint(run, sessionId, 'Roll back to'));
        return rollBack(run, sessionId, { ...options, to });
      }),
    );
};
