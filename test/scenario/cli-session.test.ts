import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type CliScene, openCliScene } from '../support/cli.ts';

const git = async (directory: string, ...args: string[]): Promise<string> => {
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

const makeWork = async ({ work }: CliScene): Promise<void> => {
  await makeRepository(join(work, 'api'), { 'a.txt': 'one\n', 'b.txt': 'one\n' });
  await makeRepository(join(work, 'web'), { 'page.html': '<h1>one</h1>\n' });
};

// Every command is a process of its own, on a machine that may be busy.
describe('walkback on the directory of a newcomer', { timeout: 180_000 }, () => {
  it('starts a session, takes checkpoints, shows them, rolls back and undoes that', async () => {
    await using scene = await openCliScene();
    const { work, text, json } = scene;
    await makeWork(scene);
    await scene.start(['up', '--json']);

    const started = await json(['session', 'start', '--root', '.', '--id', 'mine', '--metadata', 'by=test']);
    expect(started).toMatchObject({
      sessionId: 'mine',
      projectsRoot: work,
      repositories: [
        { path: 'api', branch: 'main', commits: 1 },
        { path: 'web', branch: 'main', commits: 1 },
      ],
    });
    expect(await git(join(work, 'api'), 'status', '--porcelain')).toBe('');

    await writeFile(join(work, 'api/a.txt'), 'two\n');
    await chmod(join(work, 'api/a.txt'), 0o600);
    await git(join(work, 'web'), 'switch', '-q', '-c', 'feature');
    expect(
      await json(['checkpoint', '--message', 'msg-1', '--tool', 'call-2'], join(work, 'api')),
    ).toMatchObject({
      seq: 2,
      complete: true,
    });

    await rm(join(work, 'api/a.txt'));
    await writeFile(join(work, 'web/page.html'), '<h1>broken</h1>\n');
    await writeFile(join(work, 'web/new.txt'), 'new\n');
    await json(['checkpoint', '--message', 'msg-2', '--tool', 'call-3']);

    expect(await text(['log'])).toMatch(/◉ +cp-3 +msg-2 .* by hand head/);
    const diff = await text(['diff', 'msg-1', 'head']);
    expect(diff).toContain('2 of 2 repositories differ');
    expect(diff).toContain('--- a/api/a.txt');
    expect(diff).toContain('+++ b/web/new.txt');
    expect(await text(['diff'])).toContain('No file differs');

    expect(await text(['rollback', '--to', 'msg-1', '--dry-run'])).toContain('Plan: back to msg-1');
    expect(existsSync(join(work, 'api/a.txt'))).toBe(false);

    const back = await json(['rollback', '--to', 'msg-1', '--yes']);
    expect(back).toMatchObject({ status: 'APPLIED', epoch: 2, discardedMessageIds: ['msg-2'] });
    expect(await readFile(join(work, 'api/a.txt'), 'utf8')).toBe('two\n');
    expect((await stat(join(work, 'api/a.txt'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(work, 'web/page.html'), 'utf8')).toBe('<h1>one</h1>\n');
    expect(existsSync(join(work, 'web/new.txt'))).toBe(false);
    expect(await git(join(work, 'web'), 'branch', '--show-current')).toBe('feature\n');

    const undo = String(back['undoCommand']).split(' ').slice(1);
    await json([...undo, '--yes']);
    expect(existsSync(join(work, 'api/a.txt'))).toBe(false);
    expect(await readFile(join(work, 'web/new.txt'), 'utf8')).toBe('new\n');
    expect(await text(['log'])).toContain('undo point of a rollback');
  });

  it('works without walkback up, one command after the other, and keeps everything in between', async () => {
    await using scene = await openCliScene();
    const { work, text, json } = scene;
    await makeWork(scene);
    const started = await json(['session', 'start', '--root', work]);
    const sessionId = String(started['sessionId']);
    expect(sessionId).toMatch(/^work-[0-9a-f]{8}$/);
    await writeFile(join(work, 'api/a.txt'), 'two\n');
    await json(['checkpoint', '--message', 'msg-1']);

    const copy = await json(['rehydrate', '--to', 'msg-1']);
    const directory = String(copy['directory']);
    expect(directory.startsWith(scene.dataDir)).toBe(true);
    expect(await readFile(join(directory, 'api/a.txt'), 'utf8')).toBe('two\n');

    expect(await text(['context'])).toContain('api');
    await json(['session', 'end', sessionId]);
    expect((await json(['session', 'list']))['sessions']).toEqual([]);
    expect((await json(['session', 'list', '--all']))['sessions']).toMatchObject([{ sessionId }]);
    expect(await readFile(join(work, 'api/a.txt'), 'utf8')).toBe('two\n');
  });

  it('lets commands that need a cloud of their own wait for each other', async () => {
    await using scene = await openCliScene();
    await makeWork(scene);
    await scene.json(['session', 'start', '--root', '.', '--id', 'mine']);
    const both = await Promise.all(
      ['msg-1', 'msg-2'].map((message) =>
        scene.json(['checkpoint', '--session', 'mine', '--message', message]),
      ),
    );
    expect(both.map(({ seq }) => Number(seq)).sort((a, b) => a - b)).toEqual([2, 3]);
  });

  it('says what is wrong, in words and as JSON, by exit code', async () => {
    await using scene = await openCliScene();
    await scene.start(['up', '--json']);
    const unknown = await scene.run(['log', '--session', 'nobody', '--json']);
    expect(unknown.code).toBe(3);
    expect(unknown.stdout).toBe('');
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { name: 'SessionNotFound', exitCode: 3 } });
    const nothing = await scene.run(['session', 'start', '--root', '.']);
    expect(nothing.code).toBe(3);
    expect(nothing.stderr).toMatch(/^NoRepositories: /m);
    const nowhere = await scene.run(['session', 'start', '--root', './nowhere']);
    expect(nowhere).toMatchObject({ code: 3, stdout: '' });
    expect(nowhere.stderr).toContain('does not exist');
  });
});
