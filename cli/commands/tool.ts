import type { Command } from 'commander';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { type DeadlineOptions, deadlinesOf, withDeadlines } from '../deadline-options.ts';
import { stepFailure } from '../ending.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { type SessionOptions, sessionInputOf, withSession } from '../session-options.ts';
import { helpText } from '../terminal/help-text.ts';
import { readArguments, toolOf } from '../tool-option.ts';
import { stepText } from '../view/step-view.ts';
import { withWhere } from '../where-words.ts';

interface Called extends SessionOptions, DeadlineOptions {
  arguments: string;
  request: string;
  allowIrreversible?: boolean;
  wait: number;
  by?: string;
}

const EXAMPLES = `
Examples:
  walkback tool call book_room --request call-1 --arguments '{"nights":2}'`;

export const defineTool = (tool: Command, app: App): void => {
  const call = tool
    .command('call')
    .argument('<tool>', 'tool of the catalog, NAME or NAME@VERSION')
    .description('call one tool, as a saga of one step')
    .addHelpText('after', helpText(EXAMPLES))
    .requiredOption('-r, --request <id>', 'request id; the same again is the same call', parseId)
    .option('-a, --arguments <json>', 'arguments of the tool: JSON or @FILE', '{}');
  withDeadlines(withSession(call, 'session that calls it'))
    .option('--allow-irreversible', 'an irreversible tool needs no approval')
    .option('--wait <seconds>', 'wait this long at most', parseWholeNumber(0, 600), 60)
    .option('--by <who>', 'who asks (default: you)')
    .action((name: string, options: Called, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await run.progress('Calling the tool', async () =>
          run.invoke('walkback-call-tool', {
            requestId: options.request,
            ...toolOf(name),
            arguments: await readArguments(options.arguments),
            ...deadlinesOf(options),
            waitSeconds: options.wait,
            requestedBy: operatorOf(run, options.by),
            ...sessionInputOf(options),
            ...(options.allowIrreversible === true ? { allowIrreversible: true } : {}),
          }),
        );
        if (answer.sagaId !== null)
          run.note(run.paint.dim(withWhere(`saga  walkback saga show ${answer.sagaId}`, run.options)));
        const text = () => stepText(answer.step, run.paint, run.width);
        return { value: answer, text, failure: stepFailure(answer.step, answer.sagaId) };
      }),
    );
};
