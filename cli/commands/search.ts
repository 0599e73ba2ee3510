import type { Command } from 'commander';
import { MOST_FOUND } from '../../contract/search-sessions.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { helpText } from '../terminal/help-text.ts';
import { searchText } from '../view/search-view.ts';

interface Options {
  session?: string;
  cursor?: string;
  limit: number;
}

const EXAMPLES = `
Each word has to be in the same message, or in the same call with its files, in any order and case. The words of the last seconds may be missing.

Examples:
  walkback search refund order 2001
  walkback search price.ts --session s1`;

export const defineSearch = (search: Command, app: App): void => {
  search
    .description(
      'Find messages by their words, tool calls by what was run, and changed files by their paths, newest first, in all sessions.',
    )
    .argument('<words...>', 'parts of what was said, run or changed')
    .option('-s, --session <id>', 'only this session', parseId)
    .option('--cursor <cursor>', 'look further back: from the search before')
    .option('-n, --limit <n>', 'most messages, and most calls', parseWholeNumber(1, MOST_FOUND), 20)
    .addHelpText('after', helpText(EXAMPLES))
    .action((words: string[], { session, cursor, limit }: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await run.progress('Searching', () =>
          run.invoke('walkback-search-sessions', {
            words: words.join(' '),
            limit,
            ...(session !== undefined && { sessionId: session }),
            ...(cursor !== undefined && { cursor }),
          }),
        );
        return {
          value: answer,
          text: () => searchText(answer, { paint: run.paint, width: run.width, now: run.terminal.now() }),
          isLong: true,
        };
      }),
    );
};
