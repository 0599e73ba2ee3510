/** Names that git would take for patterns: they begin with a colon. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { applies, withTwoFiles } from '../support/git-repositories.ts';

const NAMES = [':(glob)x', ':!x', ':/secret', ':(top)d/f', ':^y', ':x'];

test('files whose names begin with a colon go and come back, ignored or not by what git would take them for', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh("printf '/secret\\n/d\\n' > .gitignore", 'app');
  const first = await harness.capture();
  const before = files(harness.root);
  for (const name of NAMES) {
    const directory = name.includes('/') ? `mkdir -p './${name.slice(0, name.lastIndexOf('/'))}';` : '';
    harness.sh(`${directory} printf x > './${name}'; chmod 600 './${name}'; mkdir './${name}.empty'`, 'app');
  }
  const after = files(harness.root);
  const { undo } = await applies(harness, first);
  expect(files(harness.root)).toEqual(before);
  await applies(harness, undo);
  expect(files(harness.root)).toEqual(after);
  expect(existsSync(`${harness.root}/app/:/secret`)).toBe(true);
});
