import type { Command } from 'commander';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { parseId } from '../options.ts';
import { requireAnswerable } from '../rolling-back.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { cleanedLines, discardedLines, endedSession, plannedEnd } from '../view/end-view.ts';
import { withProgress } from '../with-progress.ts';

interface Options {
  discard?: boolean;
  dropUncaptured?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

const EXAMPLES = `
Examples:
  walkback session end work
  walkback session end work --dry-run             what it would remove from the sandbox
  walkback session end FORK --discard --dry-run   what the fork holds that no checkpoint holds
  walkback session end FORK --discard             shows that, asks, and kills the fork's sandbox

What no session needs any more is removed from .agent-shadow: captures, lists, folders of old calls.
What may hold files of yours stays, and is named.

Before a fork is discarded, work that no checkpoint holds gets a last checkpoint. Where it cannot be
captured, nothing is done, unless --drop-uncaptured says to destroy it.`;

/**
 * Forgets the mount of a session that worked in a directory of this machine. Never removes a sandbox that
 * holds files.
 */
const releaseMount = async (run: Run, sandboxId: string, projectsRoot: string): Promise<void> => {
  const { sandboxes } = run;
  if (sandboxes === undefined) return;
  const places = await sandboxes.places(sandboxId).catch(() => undefined);
  if (places?.mounts[projectsRoot] !== undefined) await sandboxes.kill(sandboxId);
};

const end = async (run: Run, sessionId: string, { dryRun }: Options): Promise<Answer> => {
  const { session } = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
  const look = { paint: run.paint, isPlan: dryRun === true };
  if (dryRun === true) {
    const plan = await run.progress(`Looking at ${sessionId}`, () =>
      run.invoke('walkback-end-session', { sessionId, dryRun: true }),
    );
    return {
      value: plan,
      text: () => `${[`Would end ${sessionId}.`, ...cleanedLines(plan.cleaned, look)].join('\n')}\n`,
    };
  }
  const answer = await withProgress(run, sessionId, `Ending ${sessionId}`, () =>
    run.invoke('walkback-end-session', { sessionId }),
  );
  await releaseMount(run, session.sandboxId, session.projectsRoot);
  const text = () => endedSession(answer, session.retentionDays, cleanedLines(answer.cleaned, look));
  return { value: answer, text };
};

const discard = async (run: Run, sessionId: string, options: Options): Promise<Answer> => {
  requireAnswerable(run, options);
  const isDropping = options.dropUncaptured === true;
  const look = { paint: run.paint, isDropping };
  const input = { sessionId, discard: true, ...(isDropping && { dropUncaptured: true }) };
  const { session } = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
  if (options.dryRun === true || options.yes !== true) {
    const plan = await run.progress(`Looking at ${sessionId}`, () =>
      run.invoke('walkback-end-session', { ...input, dryRun: true }),
    );
    const text = () => (plan.discarded === undefined ? '' : plannedEnd(sessionId, plan.discarded, look));
    if (options.dryRun === true) return { value: plan, text };
    run.note(text());
    // Where work cannot be captured, the call itself refuses.
    const isAsked = isDropping || (plan.discarded?.uncaptured ?? []).length === 0;
    if (isAsked && !(await confirm(run.terminal, `End ${sessionId}, and kill its sandbox?`))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
  }
  const answer = await withProgress(run, sessionId, `Ending ${sessionId}`, () =>
    run.invoke('walkback-end-session', input),
  );
  const lines = answer.discarded === undefined ? [] : discardedLines(answer.discarded, look);
  return { value: answer, text: () => endedSession(answer, session.retentionDays, lines) };
};

export const addSessionEnd = (parent: Command, app: App): void => {
  parent
    .command('end')
    .summary('end a session')
    .description('End a session: no more checkpoints, and its data expires after the retention time.')
    .argument('<session>', 'session id', parseId)
    .option('--discard', 'only a fork: kill its sandbox too. Shows the plan first, and asks')
    .option('--drop-uncaptured', 'with --discard: destroy work that no checkpoint holds')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', helpText(EXAMPLES))
    .action((sessionId: string, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        if (options.discard === true) return discard(run, sessionId, options);
        if (options.dropUncaptured === true) {
          throw new CliError('InvalidInput', '--drop-uncaptured goes with --discard.');
        }
        return end(run, sessionId, options);
      }),
    );
};
