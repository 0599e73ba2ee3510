/** The repositories of a newcomer, for tests of the command. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const git = async (directory: string, ...args: string[]): Promise<string> => {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  return (await promisify(execFile)('git', [...identity, ...args], { cwd: directory })).stdout;
};

const makeRepository = async (directory: string, files: Record<string, string>): Promise<void> => {
  await mkdir(directory);
  await git(directory, 'init', '-q', '-b', 'main');
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  await git(directory, 'add', '-A');
  await git(directory, 'commit', '-q', '-m', 'first');
};

export const createWork = async (work: string): Promise<void> => {
  await makeRepository(join(work, 'api'), { 'a.txt': 'one\n', 'b.txt': 'one\n' });
  await makeRepository(join(work, 'web'), { 'page.html': '<h1>one</h1>\n' });
};
