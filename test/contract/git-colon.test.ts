/** Names that git would take for patterns: they begin with a colon. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { goesBackAndForth, withTwoFiles } from '../support/git-repositories.ts';

const NAMES = [':(glob)x', ':!x', ':/secret', ':(top)d/f', ':^y', ':x'];

test('files whose names begin with a colon go and come back, ignored or not by what git would take them for', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh("printf '/secret\\n/d\\n' > .gitignore", 'app');
  const work = () => {
    for (const name of NAMES) {
      const directory = name.includes('/') ? `mkdir -p './${name.slice(0, name.lastIndexOf('/'))}';` : '';
      harness.sh(
        `${directory} printf x > './${name}'; chmod 600 './${name}'; mkdir './${name}.empty'`,
        'app',
      );
    }
  };
  await goesBackAndForth(harness, work, () => files(harness.root));
  expect(existsSync(`${harness.root}/app/:/secret`)).toBe(true);
});
