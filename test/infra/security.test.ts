import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

/** `file: title`, also where the text wraps it onto a line of its own. */
const PROOF = /`(test\/[\w/.-]+\.test\.ts): ([^`]+)`/g;

test('every test that docs/security.md names is there, under that name', async () => {
  const text = await readFile(join(PROJECT, 'docs/security.md'), 'utf8');
  const proofs = [...text.matchAll(PROOF)];
  expect(proofs.length).toBeGreaterThan(20);
  for (const [, file = '', title = ''] of proofs) {
    const source = await readFile(join(PROJECT, file), 'utf8');
    expect(source, file).toContain(`'${title}'`);
  }
});
