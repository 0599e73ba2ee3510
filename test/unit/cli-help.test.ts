/** What the command says about itself, although a command's module is loaded only when it runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../cli/commands.ts';
import { runCommand } from '../support/recording-app.ts';

const rows = COMMAND_GROUPS.flatMap(({ commands }) => commands);

test('help lists every command below its heading', async () => {
  const { stdout, failure } = await runCommand(['--help']);
  expect(failure).toMatchObject({ exitCode: 0 });
  let after = 0;
  for (const { heading, commands } of COMMAND_GROUPS) {
    const at = stdout.indexOf(`\n${heading}\n`, after);
    expect(at, heading).toBeGreaterThanOrEqual(after);
    after = at;
    for (const { name, summary } of commands) {
      const line = stdout.indexOf(`\n  ${name} `, after);
      expect(line, name).toBeGreaterThan(after);
      expect(stdout.slice(line).replaceAll(/\s+/g, ' ')).toContain(`${name} ${summary}`);
      after = line;
    }
  }
});

test.each(rows.map(({ name }) => name))(
  'the help of %s is the same whichever way it is asked for',
  async (name) => {
    const asked = await runCommand([name, '--help']);
    expect(asked.failure).toMatchObject({ exitCode: 0 });
    expect(asked.stdout).toMatch(new RegExp(`^Usage: walkback ${name}`));
    expect(asked.stdout.indexOf('\nOptions:\n')).toBeGreaterThan(0);
    expect((await runCommand(['help', name])).stdout).toBe(asked.stdout);
  },
);

test('help reaches the commands of a command', async () => {
  const { stdout } = await runCommand(['help', 'saga', 'start']);
  expect(stdout).toMatch(/^Usage: walkback saga start /);
  expect((await runCommand(['help', 'bogus'])).failure).toMatchObject({
    name: 'InvalidInput',
    message: "unknown command 'bogus'",
  });
});

test.each([80, 100])('no help is wider than %i columns, and nothing of it is lost', async (columns) => {
  const tooWide: string[] = [];
  for (const path of ['', ...(await findCommands()), ...rows.map(({ name }) => name)]) {
    const words = path.split(' ').filter((word) => word !== '');
    const { stdout } = await runCommand([...words, '--help'], { columns });
    const wide = await runCommand([...words, '--help'], { columns: 1000 });
    expect(stdout.replaceAll(/\s+/g, ' ')).toBe(wide.stdout.replaceAll(/\s+/g, ' '));
    tooWide.push(...stdout.split('\n').filter((line) => line.length > columns));
  }
  expect(tooWide).toEqual([]);
});

test('every example is of a command that is there, with options that it has', async () => {
  const paths = await findCommands();
  const wrong: string[] = [];
  let looked = 0;
  for (const path of paths) {
    const { stdout } = await runCommand([...path.split(' '), '--help'], { columns: 1000 });
    for (const [, line = ''] of stdout.matchAll(/^ {2}walkback (.+?)(?: {2,}.*| && .*| -- .*)?$/gm)) {
      looked += 1;
      const meant = paths.find((one) => `${line} `.startsWith(`${one} `));
      // `copies` alone is a command too.
      const words = meant?.split(' ') ?? line.split(' ').slice(0, 1);
      const flags = await completed(...words, '--');
      const unknown = [...line.matchAll(/(?<= )--[a-z][a-z-]*/g)].filter(([flag]) => !flags.includes(flag));
      if (flags.length === 0 || unknown.length > 0) wrong.push(`${path}: ${line}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(looked).toBeGreaterThan(60);
});

/** What people wrote on the page about the command between back ticks, without the name of the program. */
const [page = ''] = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8').split(
  '<!-- generated: command-options',
);
const code = [...page.matchAll(/`(?:npx )?(?:walkback )?([^`\n]+)`/g)].map(([, span = '']) => `${span} `);

const completed = async (...words: string[]): Promise<string[]> => {
  const { stdout } = await runCommand(['completion', '--words', words.map((word) => `:${word}\n`).join('')]);
  return stdout.split('\n').filter((word) => word !== '');
};

/** Every command that does something, and not only holds others. */
const findCommands = async (): Promise<string[]> => {
  const found = rows.map(async ({ name }) => {
    const below = (await completed(name, '')).filter((word) => word !== 'help');
    return below.length === 0 ? [name] : below.map((word) => `${name} ${word}`);
  });
  return (await Promise.all(found)).flat();
};

test('the page about the command has a place for every command, and no option that is not there', async () => {
  const paths = await findCommands();
  expect(paths.length).toBeGreaterThan(60);
  const missing = paths.filter((path) => !code.some((span) => span.startsWith(`${path} `)));
  expect(missing).toEqual([]);
  const unknown: string[] = [];
  let looked = 0;
  for (const path of paths) {
    const flags = await completed(...path.split(' '), '--');
    for (const span of code.filter((one) => one.startsWith(`${path} `))) {
      // What follows a lone -- is another program's.
      for (const [flag] of span
        .split(' -- ', 1)
        .join('')
        .matchAll(/--[a-z][a-z-]*/g)) {
        looked += 1;
        if (!flags.includes(flag)) unknown.push(`${path} ${flag}`);
      }
    }
  }
  expect(unknown).toEqual([]);
  expect(looked).toBeGreaterThan(80);
});
