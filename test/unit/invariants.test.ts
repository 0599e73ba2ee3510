/** Comments and tests cite invariants by their numbers, so that whoever reads one finds what it says. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');

const FOLDERS =
  'core,contract,adapters,client,console,kit,functions,cdk,cli,local,sandbox,statemachines,test';

/** `(S2)`, `(K1, K2)`. */
const CITED = /\(([CSLWKI]\d{1,2}(?:, [CSLWKI]\d{1,2})*)\)/g;
/** `**W6** A commitment ...`, `**S1 Intent first.**` */
const STATED = /\*\*([CSLWKI]\d{1,2})(?:\*\*| )/g;

test('every invariant that is cited is stated on a page', () => {
  const pages = globSync('docs/*.md', { cwd: PROJECT }).map(read);
  const stated = new Set(pages.flatMap((page) => [...page.matchAll(STATED)].map(([, number]) => number)));
  const cited = globSync(`{${FOLDERS}}/**/*.{ts,sh,json}`, { cwd: PROJECT }).flatMap((file) =>
    [...read(file).matchAll(CITED)].flatMap(([, numbers = '']) =>
      numbers.split(', ').map((number) => ({ file, number })),
    ),
  );
  expect(cited.length).toBeGreaterThan(100);
  expect(cited.filter(({ number }) => !stated.has(number))).toEqual([]);
});
