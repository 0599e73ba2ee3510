import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Command } from 'commander';
import { errorRow } from '../../contract/errors.ts';
import { MIB } from '../../contract/sizes.ts';
import { plural } from '../../core/shared/plural.ts';
import { formatBytes, listSome } from '../../present/text.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError, describeFailure } from '../failure.ts';
import { writingNamedFile } from '../named-files.ts';
import { parseWholeNumber } from '../options.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';

interface Options {
  html?: boolean;
  output?: string;
  maxMegabytes: number;
}

const EXAMPLES = `
Examples:
  walkback export --html                       the session around here, as SESSION.html
  walkback export --html s1 --output s1.html

The file opens in a browser without a server and loads nothing: messages, files,
diffs, what sagas did outside, and their ledger, all as text. Whoever has the file can read
all of it.`;

type Fill<Told> = (write: (piece: string) => Promise<void>) => Promise<Told>;

const filled = async <Told>(handle: FileHandle, fill: Fill<Told>): Promise<Told> => {
  try {
    return await fill((piece) => handle.writeFile(piece));
  } finally {
    await handle.close();
  }
};

/**
 * An export writes all the time. Whether an old one still runs cannot be seen from another container that
 * shares the directory.
 */
const LEFT_AFTER_MS = 600_000;

/** Removes what killed exports to this file left beside it. */
const removeLeft = async (file: string): Promise<void> => {
  for (const name of await readdir(dirname(file)).catch(() => [])) {
    const [, begin = ''] = /^(.*)\.[\da-f]{1,9}\.part$/s.exec(name) ?? [];
    if (begin !== basename(file)) continue;
    const path = join(dirname(file), name);
    const writtenMs = (await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity;
    if (writtenMs < Date.now() - LEFT_AFTER_MS) await rm(path, { force: true });
  }
};

/**
 * The file appears under its name only when it is complete. A device or a pipe is written to directly: a file
 * in its place would break it for everybody.
 */
const written = async <Told>(named: string, fill: Fill<Told>): Promise<Told> => {
  const there = await stat(named).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return filled(await open(named, 'w'), fill);
  const file = there === undefined ? named : await realpath(named);
  await removeLeft(file);
  const beside = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    const told = await filled(await open(beside, 'wx', 0o600), fill);
    await rename(beside, file);
    return told;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
};

export const defineExport = (command: Command, app: App): void => {
  command
    .description('Write one session as a page that opens without a server.')
    .argument('[session]', 'default: see walkback --help')
    .option('--html', 'as HTML, the only format there is')
    .option('-o, --output <file>', 'where to (default: SESSION.html here)')
    .option('--max-megabytes <n>', 'cut the file at this size, and say so', parseWholeNumber(1, 1000), 50)
    .addHelpText('after', helpText(EXAMPLES))
    .action((session: string | undefined, options: Options, own: Command) =>
      withConnection(app, own, async (run) => {
        if (options.html !== true) {
          throw new CliError('InvalidInput', 'Which format?', { hint: 'walkback export --html' });
        }
        const sessionId = await resolveSession(run, session);
        const file = options.output ?? `${sessionId}.html`;
        const { exportSession } = await import('../../console/export/session-file.ts');
        const fill = (write: (piece: string) => Promise<void>) =>
          exportSession({
            ask: (name, input) => run.invoke(`walkback-${name}`, input),
            isNotFound: (error) => errorRow(describeFailure(error).name)?.exitCode === 'notFound',
            sessionId,
            maxBytes: options.maxMegabytes * MIB,
            now: () => run.terminal.now(),
            write,
          });
        const told = await run.progress(`Writing ${file}`, () =>
          writingNamedFile(file, () => written(file, fill)),
        );
        return {
          value: { file, ...told },
          text: () =>
            `${file}: ${plural(told.messages, 'message')}, ${plural(told.sagas, 'saga')}, ${formatBytes(told.bytes)}\n${
              told.cut.length === 0 ? '' : `Cut, because of --max-megabytes: ${listSome(told.cut, 3)}.\n`
            }`,
        };
      }),
    );
};
