/** The linter keeps folders apart: imports planted in a copy of the tree, under the project's own rules. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT } from '../../local/program.ts';

type Planted = Record<string, string>;

/** The files that the linter refuses, each with one import. */
const refused = (planted: Readonly<Planted>, how: 'import' | 'import type' = 'import'): string[] => {
  using tree = mkdtempDisposableSync(join(tmpdir(), 'walkback-rules-'));
  copyFileSync(join(PROJECT, '.oxlintrc.json'), join(tree.path, '.oxlintrc.json'));
  for (const [file, imported] of Object.entries(planted)) {
    mkdirSync(dirname(join(tree.path, file)), { recursive: true });
    writeFileSync(
      join(tree.path, file),
      `${how} { one } from '${imported}';\nexport type Two = typeof one;\n`,
    );
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
    'console/parts/command.ts': '../../cli/failure.ts',
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
    'present/command.ts': '../cli/failure.ts',
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

/** The folders and files of a table in CONTRIBUTING.md, in its order. */
const orderOf = (base: string): string[] => {
  const text = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8');
  const [, rows = ''] = text.split(`\n| \`${base}/\``);
  const lines = rows.split('\n').slice(2);
  const table = lines.slice(0, lines.indexOf(''));
  return table.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
};

const isFile = (name: string): boolean => name.endsWith('.ts');

/** An import of one folder, planted in another. */
const plantedIn = (base: string, from: string, to: string): [file: string, imported: string] => [
  `${base}/${from}takes-${to.slice(0, -1)}.ts`,
  `../${to}there.ts`,
];

describe.each(['core/checkpoint', 'core/saga'])('the folders of %s', (base) => {
  const order = orderOf(base);
  const folders = order.filter((name) => !isFile(name));
  const pairs = folders.flatMap((early, at) => folders.slice(at + 1).map((late) => [early, late] as const));

  test('all stand in the table, and none has folders of its own', () => {
    const entries = readdirSync(join(PROJECT, base), { withFileTypes: true });
    const there = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    expect(there.toSorted()).toEqual(order.toSorted());
    const inside = readdirSync(join(PROJECT, base), { withFileTypes: true, recursive: true });
    const deeper = inside.filter((entry) => entry.isDirectory() && entry.parentPath !== join(PROJECT, base));
    expect(deeper.map(({ name }) => name)).toEqual([]);
  });

  test.each(['import', 'import type'] as const)('an %s of a later folder is refused', (how) => {
    const planted = Object.fromEntries(pairs.map(([early, late]) => plantedIn(base, early, late)));
    expect(Object.keys(planted).length).toBeGreaterThan(60);
    expect(refused(planted, how)).toEqual(Object.keys(planted).toSorted());
  });

  test('an import of an earlier folder is taken', () => {
    const allowed = Object.fromEntries(pairs.map(([early, late]) => plantedIn(base, late, early)));
    expect(refused(allowed)).toEqual([]);
  });

  test('the core above, a program and a vendor are refused in every folder', () => {
    const above = ['../../rewind/there.ts', '../../../adapters/there.ts', '../../../present/there.ts'];
    const wrong = [...above, 'node:fs', 'node:child_process', '@aws-sdk/client-s3', 'e2b'];
    const planted = Object.fromEntries(
      folders.flatMap((name) => wrong.map((imported, at) => [`${base}/${name}wrong-${at}.ts`, imported])),
    );
    expect(refused(planted)).toEqual(Object.keys(planted).toSorted());
  });
});

test('files beside folders keep their place in the order', () => {
  const planted = {
    'core/checkpoint/defaults.ts': './session/there.ts',
    'core/checkpoint/model.ts': './ports/there.ts',
    'core/saga/model/there.ts': '../ports.ts',
    'core/saga/ports.ts': './decide/there.ts',
  };
  expect(refused(planted, 'import type')).toEqual(Object.keys(planted).toSorted());
  const allowed = {
    'core/checkpoint/defaults.ts': './model.ts',
    'core/checkpoint/ports/there.ts': '../model.ts',
    'core/saga/entries/there.ts': '../ports.ts',
    'core/saga/ports.ts': './model/there.ts',
  };
  expect(refused(allowed)).toEqual([]);
});

test('the reducer imports only its own folder, the model, core/shared and contract', () => {
  const planted = {
    'core/saga/decide/package.ts': 'zod',
    'core/saga/decide/port.ts': '../ports.ts',
    'core/saga/decide/session.ts': '../../checkpoint/model.ts',
  };
  const allowed = {
    'core/saga/decide/contract.ts': '../../../contract/there.ts',
    'core/saga/decide/model.ts': '../model/there.ts',
    'core/saga/decide/self.ts': './there.ts',
    'core/saga/decide/shared.ts': '../../shared/there.ts',
  };
  expect(refused({ ...planted, ...allowed })).toEqual(Object.keys(planted).toSorted());
});

test('checkpoints know no sagas, and sagas know only the ports of checkpoints', () => {
  const planted = {
    'core/checkpoint/rollback/saga.ts': '../../saga/model/there.ts',
    'core/people/checkpoint.ts': '../checkpoint/model.ts',
    'core/saga/people/checkpoint.ts': '../../checkpoint/session/there.ts',
    'core/shared/checkpoint.ts': '../checkpoint/model.ts',
    'core/shared/saga.ts': '../saga/ports.ts',
  };
  const allowed = {
    'core/people/saga.ts': '../saga/people/there.ts',
    'core/rewind/checkpoint.ts': '../checkpoint/rollback/there.ts',
    'core/rewind/saga.ts': '../saga/run/there.ts',
    'core/saga/view/port.ts': '../../checkpoint/ports/there.ts',
  };
  expect(refused({ ...planted, ...allowed })).toEqual(Object.keys(planted).toSorted());
});
