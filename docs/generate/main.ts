/** `npm run docs`: writes what the pages hold of contract/. With `--check`: fails when a page is not as it would be written. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '../../api/openapi.ts';
import { fill } from './markdown.ts';
import { PARTS } from './parts.ts';

const PROJECT = join(import.meta.dirname, '../..');
const PAGES = ['README.md', 'docs/functions.md', 'docs/cli.md', 'docs/api.md'];

/** Made whole, not filled in. */
const OPENAPI = 'docs/openapi.json';

const written = (page: string, before: string): string =>
  page === OPENAPI ? `${JSON.stringify(openApiDocument(), null, 2)}\n` : fill(before, PARTS);

let stale = 0;
for (const page of [...PAGES, OPENAPI]) {
  const path = join(PROJECT, page);
  const before = await readFile(path, 'utf8').catch(() => '');
  const after = written(page, before);
  if (after === before) continue;
  stale += 1;
  if (process.argv.includes('--check')) process.stderr.write(`${page} is not current: npm run docs\n`);
  else await writeFile(path, after);
}
if (stale > 0 && process.argv.includes('--check')) process.exitCode = 1;
