/** Code that the pages show: it stands in a file under examples/, so that it is compiled and run, and refusals are handled. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { commitments } from '../../contract/workspace-inputs.ts';
import { planSchema } from '../../core/saga/plan/plan-shape.ts';
import { endpointKey, signatureHeader } from '../../core/saga/tools/http-signature.ts';
import { serveTools } from '../../examples/backend/http-tool.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { PROJECT } from '../../local/template.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { requestOf } from '../support/tool-requests.ts';

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');

/** Lines without what sets them in; a block shows part of a file. */
const flat = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();

/** The walkthrough has a test of its own (first-tool.test.ts), which compares its files and does what its calls do. */
const pages = ['README.md', ...globSync('docs/*.md', { cwd: PROJECT })].filter(
  (page) => page !== 'docs/tools.md',
);

const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/^```(?:ts|typescript|js|javascript)\n(.*?)^```$/gms)].map(
    ([, block = ''], index) => [page, index + 1, block] as const,
  ),
);

test('there are such blocks', () => expect(blocks.length).toBeGreaterThanOrEqual(3));

test.each(blocks)('%s, block %i, is code of an example', (_page, _number, block) => {
  const examples = globSync('examples/**/*.ts', { cwd: PROJECT }).map((file) => flat(read(file)));
  expect(examples.filter((source) => source.includes(flat(block))).length).toBeGreaterThan(0);
});

/** A program as it stands, with the paragraph before it. */
const programs = ['README.md', 'docs/api.md']
  .flatMap((page) => [...read(page).matchAll(/((?:[^\n]+\n)+)\n```ts\n(.*?)^```$/gms)])
  .flatMap(([, before = '', block = '']) =>
    /^(?:const \w+ = )?await /m.test(block) ? [[before, block] as const] : [],
  );

test('there are such programs', () => expect(programs.length).toBe(2));

test.each(programs)(
  '%s a program is read as it stands, whatever modules the project has',
  async (before, block) => {
    const [, ending = ''] = /in a file that ends in `\.(\w+)`/.exec(before.replaceAll('\n', ' ')) ?? [];
    await using project = await mkdtempDisposable(join(tmpdir(), 'walkback-sample-'));
    const file = join(project.path, `program.${ending}`);
    await writeFile(join(project.path, 'package.json'), '{ "type": "commonjs" }');
    await writeFile(file, block);
    const { stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    expect(stderr, 'all that is missing is the package').toContain("Cannot find package 'walkback");
  },
);

const samples = ['docs/templates.md', 'docs/tools.md'].flatMap((page) =>
  [...read(page).matchAll(/^```json\n(.*?)^```$|--input '(\{\n.*?^\})'/gms)].map(
    ([, json, input]) => [page, JSON.parse(json ?? input ?? '')] as const,
  ),
);
const withCommand = z.looseObject({ command: z.string() });

test.each(samples)('%s: what %j runs is run in a repository of a session that holds several', (_, sample) => {
  const found: unknown[] = [];
  JSON.stringify(sample, (name, value: unknown) => {
    if (withCommand.safeParse(value).success) found.push(value);
    if (name === 'commitments') expect(() => commitments().parse(value)).not.toThrow();
    return value;
  });
  expect(found).not.toEqual([]);
  for (const one of found) expect(one).toHaveProperty('cwd');
});

/** A part that says `[...]` is left out; a block is a plan, or one step of it. */
const plans = [...read('docs/sagas.md').matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = '']) => {
  const shown: Record<string, unknown> = JSON.parse(
    json.replaceAll('[...]', '[{ "id": "post", "tool": "post", "arguments": {} }]'),
  );
  return 'steps' in shown ? shown : { steps: [shown] };
});

test('docs/sagas.md shows plans', () => expect(plans.length).toBeGreaterThanOrEqual(3));

test.each(plans)('docs/sagas.md: a plan is taken as it is written: %j', (plan) => {
  expect(() => planSchema.parse(plan)).not.toThrow();
});

const ends: string[] = [];
const KEY_OF = (url: string): string => endpointKey('a secret of this test', url);
let url = '';
const tool = defineTool({
  name: 'note',
  version: '1',
  description: 'Notes a text',
  effect: 'read',
  input: z.strictObject({ text: z.string() }),
  output: z.strictObject({ noted: z.string() }),
  execute: async ({ text }) => {
    ends.push(text);
    return { noted: text };
  },
});
const server = createServer((request, response) => {
  void serveTools(
    [tool],
    { tombstones: memoryTombstones() },
    { ENDPOINT: url, KEY: KEY_OF(url) },
  )(request, response);
});
beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/tools`;
});
afterAll(() => {
  server.close();
});

test('the receiver of docs/tools.md lets no call in without its signature', async () => {
  const body = JSON.stringify(requestOf({ tool: 'note', arguments: { text: 'hello' } }));
  const refused = await fetch(url, { method: 'POST', body });
  expect(refused.status).toBe(401);
  expect(ends).toEqual([]);
  const header = signatureHeader(KEY_OF(url), { seconds: Math.floor(Date.now() / 1000), url, body });
  const taken = await fetch(url, { method: 'POST', body, headers: { 'walkback-signature': header } });
  expect(await taken.json()).toMatchObject({ outcome: 'committed', result: { noted: 'hello' } });
  expect(ends).toEqual(['hello']);
});
