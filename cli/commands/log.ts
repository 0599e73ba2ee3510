import type { Command } from 'commander';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { resolveSession } from '../session.ts';
import { readTimeline } from '../timeline.ts';
import { timelineText } from '../view/timeline-print.ts';

export const defineLog = (log: Command, app: App): void => {
  log
    .description(
      'Show the timeline as a tree, newest first: checkpoints, the messages they belong to, the repositories ' +
        'that changed, by how many lines, or bytes where lines were not counted. ◉ is where the session stands, ● the way to it, ○ a branch ' +
        'left behind by a rollback (still reachable), ◇ work in a review copy.',
    )
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('-n, --limit <n>', 'show this many checkpoints', parseWholeNumber(1, 100_000), 50)
    .action((options: { session?: string; limit: number }, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const timeline = await run.progress('Reading the timeline', () =>
          readTimeline(run, sessionId, options.limit),
        );
        const { paint, width, terminal, options: where } = run;
        return {
          value: timeline,
          text: () => timelineText(timeline, { paint, width, now: terminal.now(), where }),
          isLong: true,
        };
      }),
    );
};
