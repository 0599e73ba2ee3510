/** A minute, an hour and a day have one place (contract/times.ts). Examples stand for themselves. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const PLACE = 'contract/times.ts';
const SOURCES = '{adapters,api,bench,cdk,cli,client,console,contract,core,functions,kit,local,tools}/**/*.ts';

const DEFINED = /const (?:MINUTE|HOUR|DAY)_(?:MS|SECONDS)\b/;
/** A day or an hour as a number, whatever is made of it. */
const WRITTEN = /\b86_?400(?:_?000)?\b|\b3_?600(?:_?000)?\b|\b60 \* 60\b/;
/** What is said in a text is no constant. */
const withoutTexts = (line: string): string => line.replaceAll(/'[^']*'|^ *(?:\/\/|\/?\*).*/g, '');

test('each is written once', () => {
  const files = globSync(SOURCES, { cwd: PROJECT }).filter((file) => file !== PLACE);
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    readFileSync(join(PROJECT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        DEFINED.test(line) || WRITTEN.test(withoutTexts(line)) ? [`${file}:${at + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(found).toEqual([]);
});
