import type { Command } from 'commander';
import * as z from 'zod';
import type { AnswerOf } from '../../contract/functions.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { readNamedFile } from '../named-files.ts';
import { noteWarnings } from '../warnings.ts';

const content = z.strictObject({
  tools: z.array(z.unknown()).default([]),
  definitions: z.array(z.unknown()).default([]),
});

const read = async (file: string) => {
  const text = await readNamedFile(file);
  try {
    return content.parse(JSON.parse(text));
  } catch (cause) {
    throw new CliError('InvalidInput', `${file} is not a catalog file.`, {
      cause,
      hint: 'it holds {"tools": [...], "definitions": [...]}',
    });
  }
};

const storedLines = ({ versions }: AnswerOf<'put-catalog'>): string =>
  versions
    .map(
      ({ kind, name, version, stored }) =>
        `${stored ? '✔' : '='} ${kind} ${name}@${version}${stored ? '' : ' was there'}\n`,
    )
    .join('');

export const addCatalogPut = (parent: Command, app: App): void => {
  parent
    .command('put')
    .argument('<file>', 'JSON: { "tools": [...], "definitions": [...] }')
    .description('store tools and templates; bad ones are refused, and a stored version never changes')
    .action((file: string, _: unknown, command: Command) =>
      withConnection(app, command, async (run) => {
        const request = await read(file);
        const answer = await run.progress('Storing', () => run.invoke('walkback-put-catalog', request));
        noteWarnings(run, answer);
        return {
          value: answer,
          text: () =>
            answer.versions.length === 0 ? `Nothing was stored: ${file} is empty.\n` : storedLines(answer),
        };
      }),
    );
};
