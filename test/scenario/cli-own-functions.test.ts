/** A tool author's first saga: a tool of one's own in a directory, `walkback up --functions`, and no cloud account. */
import { mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { PROJECT } from '../../local/template.ts';
import { type CliScene, openCliScene } from '../support/cli.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('cli-own-functions');

/** A shelf that books are taken from, kept in a file beside the module: what took effect is there to be looked at. */
const tool = (addition = '', more = '') => `
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { createTombstones } from ${JSON.stringify(`${PROJECT}/adapters/aws/sagas/saga-tombstones.ts`)};
import { defineTool } from ${JSON.stringify(`${PROJECT}/kit/define-tool.ts`)};
import { toolHandler } from ${JSON.stringify(`${PROJECT}/kit/handler.ts`)};
import { manifestOf } from ${JSON.stringify(`${PROJECT}/kit/manifest.ts`)};
import { ToolRejected } from ${JSON.stringify(`${PROJECT}/kit/outcomes.ts`)};
const note = (text: string) => appendFile(join(import.meta.dirname, 'shelf.txt'), text + '\\n');

const take = defineTool({
  name: 'take_book',
  version: '1.0.0',
  description: 'Takes a book from the shelf.',
  input: z.strictObject({ title: z.string() }),
  output: z.strictObject({ title: z.string() }),
  effect: 'compensatable',
  idempotencyWindowSeconds: 86_400,
  execute: async ({ title }) => {
    if (title === 'none') throw new ToolRejected('NoSuchBook', 'there is no such book');
    await note('took ' + title + '${addition}');
    return { title };
  },
  compensate: {
    name: 'put_back',
    execute: async ({ arguments: { title } }) => note('put back ' + title),
  },
});

export const tools = [manifestOf(take, 'library')];
${more}

let serve: ReturnType<typeof toolHandler> | undefined;
export const handler = (event: unknown) =>
  (serve ??= toolHandler([take], { tombstones: createTombstones({ sagasTable: process.env['WALKBACK_SAGAS_TABLE'] ?? '' }) }))(event);
`;

const author = async (scene: CliScene): Promise<string> => {
  const directory = join(scene.work, 'tools');
  await mkdir(directory);
  // As npm would put them: the author's own packages.
  await symlink(join(PROJECT, 'node_modules'), join(scene.work, 'node_modules'));
  await writeFile(join(scene.work, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'library.ts'), tool());
  await writeFile(join(directory, 'helper.ts'), 'export const help = (): number => 1;\n');
  return directory;
};

describe('walkback up --functions', () => {
  test('runs a saga on a tool of one’s own, and takes it back', async () => {
    await using scene = await openCliScene();
    const directory = await author(scene);
    const { firstLine } = await scene.start(['up', '--json', '--functions', directory]);
    expect(JSON.parse(firstLine)).toMatchObject({ functions: ['library'] });

    const { tools } = (await import(join(directory, 'library.ts'))) as { tools: unknown[] };
    await writeFile(join(scene.work, 'catalog.json'), JSON.stringify({ tools }));
    // The function is there, with a time limit that fits: no warning.
    expect(await scene.json(['catalog', 'put', 'catalog.json'])).toMatchObject({ warnings: [] });

    const plan = (...titles: string[]) =>
      JSON.stringify({
        steps: titles.map((title, n) => ({ id: `s${n}`, tool: 'take_book', arguments: { title } })),
      });
    const start = (id: string, ...titles: string[]) =>
      scene.json(['saga', 'start', '--plan', plan(...titles), '--id', id, '--by', 'author']);
    await start('one', 'Ulysses');
    expect(await scene.json(['saga', 'watch', 'one'])).toMatchObject({ status: 'COMPLETED' });
    await start('two', 'Emma', 'none');
    await scene.run(['saga', 'watch', 'two', '--json']);
    expect(await scene.json(['saga', 'show', 'two'])).toMatchObject({ status: 'COMPENSATED' });
    // By what they do: a plan without a template is called by its tool.
    expect(await scene.text(['saga', 'list'])).toMatch(/^one +Take book +COMPLETED/m);
    expect(await scene.text(['saga', 'show', 'one'])).toMatch(/^Saga one +COMPLETED\n +Take book\n/);
    expect(await scene.text(['saga', 'tree', 'one'])).toMatch(/^one +Take book +COMPLETED/);
    const shelf = async () => (await readFile(join(directory, 'shelf.txt'), 'utf8')).trim().split('\n');
    expect(await shelf()).toEqual(['took Ulysses', 'took Emma', 'put back Emma']);

    // Edited, it is another one from its next call on.
    await writeFile(join(directory, 'library.ts'), tool(' again'));
    await utimes(join(directory, 'library.ts'), new Date(), new Date(Date.now() + 5_000));
    await start('three', 'Emma');
    await scene.json(['saga', 'watch', 'three']);
    expect((await shelf()).at(-1)).toBe('took Emma again');

    // A tool that has less time than its function has by default: the refusal says where to write the function's.
    const [manifest] = tools as [{ compensation: object }];
    const compensation = { ...manifest.compensation, timeoutSeconds: 10 };
    const shorter = { ...manifest, version: '1.1.0', timeoutSeconds: 10, compensation };
    await writeFile(join(scene.work, 'shorter.json'), JSON.stringify({ tools: [shorter] }));
    const put = () => scene.run(['catalog', 'put', 'shorter.json']);
    const { code, stderr } = await put();
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringMatching(/limit of 10 to 14 s:.*`export const timeoutSeconds` in its module/),
    ]);
    await writeFile(join(directory, 'library.ts'), tool('', 'export const timeoutSeconds = 14;'));
    await utimes(join(directory, 'library.ts'), new Date(), new Date(Date.now() + 10_000));
    await start('four', 'Emma');
    await scene.json(['saga', 'watch', 'four']);
    expect(await put()).toMatchObject({ code: 0 });
  });

  test('refuses what it cannot serve, and stops', async () => {
    await using scene = await openCliScene();
    const { code, stderr } = await scene.run(['up', '--functions', 'tools']);
    expect([code, stderr]).toEqual([
      7,
      expect.stringContaining('tools: there is no such directory or module'),
    ]);
  });
});
