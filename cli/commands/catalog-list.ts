import type { Command } from 'commander';
import type { CatalogAnswer } from '../../contract/saga-answers.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseWholeNumber } from '../options.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';

type Definition = CatalogAnswer['definitions'][number];

const toolTable = (tools: CatalogAnswer['tools'], paint: Paint): string =>
  table(
    [{ head: 'TOOL' }, { head: 'EFFECT' }, { head: 'UNDONE BY' }, { head: 'PROBE' }, { head: 'SERVED BY' }],
    tools.map((tool) => [
      `${tool.name}@${tool.version}`,
      tool.effect,
      tool.compensator ?? '-',
      tool.probe ? 'yes' : 'no',
      tool.endpoint ?? tool.functionName,
    ]),
    paint,
  );

const definitionTable = (definitions: readonly Definition[], paint: Paint): string =>
  table(
    [{ head: 'TEMPLATE' }, { head: 'REVIEW BY' }, { head: 'STEPS' }],
    definitions.map((one) => [
      `${one.name}@${one.version}`,
      one.daysToReview < 0 ? paint.red(one.reviewBy) : one.reviewBy,
      one.steps.join(', '),
    ]),
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
    .description('list the templates past their review date')
    .option('--within <days>', 'those due within so many days too', parseWholeNumber(0, 3650), 0)
    .action((options: { within: number }, command: Command) =>
      withConnection(app, command, async (run) => {
        const { definitions } = await run.invoke('walkback-list-catalog', {});
        const due = definitions.filter(({ daysToReview }) => daysToReview < options.within);
        return {
          value: { definitions: due },
          text: () =>
            due.length === 0 ? 'No template is due for review.\n' : definitionTable(due, run.paint),
        };
      }),
    );
};
