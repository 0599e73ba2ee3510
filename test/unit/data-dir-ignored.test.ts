/** Git ignores what is in a data directory, because one may lie in a directory that is captured. */
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDataDirectory } from '../../local/data-dir.ts';
import { runSync } from '../support/run-sync.ts';

test('git ignores all of a new one, and of one that was empty; one that holds files of somebody stays as it is', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'walkback-home-'));
  const data = join(home.path, 'state/walkback');
  await Promise.all([makeDataDirectory(data), makeDataDirectory(data)]);
  expect(await readFile(join(data, '.gitignore'), 'utf8')).toBe('*\n');
  expect((await stat(data)).mode & 0o777).toBe(0o700);
  await writeFile(join(data, 'credentials.json'), '{}');
  await makeDataDirectory(data);
  await writeFile(join(home.path, 'mine'), 'mine');
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => runSync('git', args, { cwd: home.path, env });
  git('init', '-q');
  expect(git('ls-files', '-o', '--exclude-standard')).toBe('mine\n');
  await makeDataDirectory(home.path);
  expect((await readdir(home.path)).toSorted()).toEqual(['.git', 'mine', 'state']);
});
