/** `npm run docs`: writes what the pages hold of contract/. With `--check`: fails when a page is not as it would be written. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '../../api/openapi.ts';
import { builtInCatalog } from './built-in.ts';
import { fill } from './markdown.ts';
import { PARTS } from './parts.ts';

const PROJECT = join(import.meta.dirname, '../..');
const PAGES = ['docs/functions.md', 'docs/cli.md', 'docs/api.md', 'docs/templates.md'];

/** Made whole, not filled in. The catalog is read by the functions, which are not to make it of schemas each time they start. */
const WHOLE: Readonly<Record<string, () => string>> = {
  'docs/openapi.json': () => `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'tools/catalog.json': builtInCatalog,
};

const written = (page: string, before: string): string => WHOLE[page]?.() ?? fill(before, PARTS);

let stale = 0;
for (const page of [...PAGES, ...Object.keys(WHOLE)]) {
  const path = join(PROJECT, page);
  const before = await readFile(path, 'utf8').catch(() => '');
  const after = written(page, before);
  if (after === before) continue;
  stale += 1;
  if (process.argv.includes('--check')) process.stderr.write(`${page} is not current: npm run docs\n`);
  else await writeFile(path, after);
}
if (stale > 0 && process.argv.includes('--check')) process.exitCode = 1;
