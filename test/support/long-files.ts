/** The files of `npm run test:long`. */
import { globSync, readFileSync } from 'node:fs';

const LONG = '.long.test.ts';

/** Whether `npm test` plays a file in part or in turn. One that samples by its support says `npm run test:long`. */
export const isPlayedInPart = (file: string): boolean =>
  /from '\.\.\/support\/sampl(?:ing|ed-test)\.ts'|`npm run test:long`/.test(readFileSync(file, 'utf8'));

/** Those that only it plays, and those that it plays whole. */
export const longFiles = (): string[] => [
  ...globSync(`test/**/*${LONG}`),
  ...globSync('test/{contract,scenario,unit,infra}/*.test.ts').filter(
    (file) => !file.endsWith(LONG) && isPlayedInPart(file),
  ),
];
