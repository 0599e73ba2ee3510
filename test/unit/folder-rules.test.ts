/** The linter keeps folders apart: imports planted in a copy of the tree, under the project's own rules. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/program.ts';

/** The files that the linter refuses, each with one import. */
const refused = (planted: Readonly<Record<string, string>>): string[] => {
  using tree = mkdtempDisposableSync(join(tmpdir(), 'walkback-rules-'));
  copyFileSync(join(PROJECT, '.oxlintrc.json'), join(tree.path, '.oxlintrc.json'));
  for (const [file, imported] of Object.entries(planted)) {
    mkdirSync(dirname(join(tree.path, file)), { recursive: true });
    writeFileSync(join(tree.path, file), `import { one } from '${imported}';\nexport const two = one;\n`);
  }
  const { stdout } = spawnSync(
    process.execPath,
    [join(PROJECT, 'node_modules/oxlint/bin/oxlint'), '--format=json', '.'],
    { cwd: tree.path, encoding: 'utf8' },
  );
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
  const found = diagnostics.filter(({ code }) => code.includes('no-restricted-imports'));
  return found.map(({ filename }) => filename).sort();
};

test('the console imports nothing of the command and of the embedded cloud', () => {
  const planted = {
    'console/command.ts': '../cli/terminal/text.ts',
    'console/parts/command.ts': '../../cli/exit-codes.ts',
    'console/cloud.ts': '../local/e2b/guard.ts',
    'console/pages/cloud.ts': '../../local/program.ts',
  };
  const allowed = {
    'console/shared.ts': '../present/text.ts',
    'console/client.ts': '../client/verify-ledger.ts',
    'console/core.ts': '../core/shared/plural.ts',
  };
  expect(refused({ ...planted, ...allowed })).toEqual(Object.keys(planted).sort());
});

test('what the command and the console share imports contract and core only', () => {
  const planted = {
    'present/cloud.ts': '../local/program.ts',
    'present/command.ts': '../cli/exit-codes.ts',
    'present/file.ts': 'node:fs',
    'present/page.ts': '../console/parts/markup.ts',
    'present/vendor.ts': '@aws-sdk/client-s3',
    'core/shared/above.ts': '../../present/text.ts',
  };
  const allowed = {
    'present/beside.ts': './text.ts',
    'present/contract.ts': '../contract/times.ts',
    'present/core.ts': '../core/shared/plural.ts',
  };
  expect(refused({ ...planted, ...allowed })).toEqual(Object.keys(planted).sort());
});
