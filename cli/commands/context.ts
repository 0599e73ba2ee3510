import type { Command } from 'commander';
import { printable } from '../../present/text.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId } from '../options.ts';
import { resolveSession } from '../session.ts';

export const defineContext = (context: Command, app: App): void => {
  context
    .description("Print the agent's system-prompt text about the repositories of a session.")
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .action((options: { session?: string }, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const answer = await run.progress('Looking at the repositories', () =>
          run.invoke('walkback-context', { sessionId }),
        );
        const text = (): string => {
          const prompt = run.terminal.stdout.isTTY === true ? printable(answer.prompt) : answer.prompt;
          return prompt.endsWith('\n') ? prompt : `${prompt}\n`;
        };
        return { value: answer, text };
      }),
    );
};
