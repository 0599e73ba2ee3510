import type { Command } from 'commander';
import type { CatalogAnswer } from '../../contract/saga-lists.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseWholeNumber } from '../options.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';

type Definition = CatalogAnswer['definitions'][number];
type CatalogTool = CatalogAnswer['tools'][number];

/** A tool need not have a review date. */
const reviewCell = (
  { reviewBy = '-', daysToReview = 0 }: Pick<CatalogTool, 'reviewBy' | 'daysToReview'>,
  paint: Paint,
): string => (daysToReview < 0 ? paint.red(reviewBy) : reviewBy);

const toolTable = (tools: readonly CatalogTool[], paint: Paint): string =>
  table(
    [
      { head: 'TOOL' },
      { head: 'EFFECT' },
      { head: 'UNDONE BY' },
      { head: 'PROBE' },
      { head: 'REVIEW BY' },
      { head: 'SERVED BY' },
    ],
    tools.map((tool) => [
      `${tool.name}@${tool.version}`,
      tool.effect,
      tool.compensator ?? '-',
      tool.probe ? 'yes' : 'no',
      reviewCell(tool, paint),
      tool.endpoint ?? tool.functionName,
    ]),
    paint,
  );

const definitionTable = (definitions: readonly Definition[], paint: Paint): string =>
  table(
    [{ head: 'TEMPLATE' }, { head: 'REVIEW BY' }, { head: 'STEPS' }],
    definitions.map((one) => [`${one.name}@${one.version}`, reviewCell(one, paint), one.steps.join(', ')]),
    paint,
  );

export const addCatalogList = (parent: Command, app: App): void => {
  parent
    .command('list')
    .alias('ls')
    .description('list the newest version of every tool and template')
    .action((_: unknown, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await run.invoke('walkback-list-catalog', {});
        return {
          value: answer,
          text: () =>
            `${toolTable(answer.tools, run.paint)}\n${definitionTable(answer.definitions, run.paint)}`,
        };
      }),
    );
};

export const addCatalogReview = (parent: Command, app: App): void => {
  parent
    .command('review')
    .description('list the tools and templates past their review date')
    .option('--within <days>', 'also those that are due within so many days', parseWholeNumber(0, 3650), 0)
    .action((options: { within: number }, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await run.invoke('walkback-list-catalog', {});
        const isDue = ({ daysToReview }: { daysToReview?: number | undefined }) =>
          daysToReview !== undefined && daysToReview < options.within;
        const tools = answer.tools.filter(isDue);
        const definitions = answer.definitions.filter(isDue);
        const parts = [
          ...(tools.length === 0 ? [] : [toolTable(tools, run.paint)]),
          ...(definitions.length === 0 ? [] : [definitionTable(definitions, run.paint)]),
        ];
        return {
          value: { tools, definitions },
          text: () =>
            parts.length === 0 ? 'No tool and no template is due for review.\n' : parts.join('\n'),
        };
      }),
    );
};
