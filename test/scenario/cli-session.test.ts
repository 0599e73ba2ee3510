import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { openCliScene } from '../support/cli.ts';
import { createWork, git } from '../support/cli-work.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('cli-session');

// Every command is a process of its own, on a machine that may be busy.
describe('walkback beside walkback up', () => {
  test('starts a session, takes checkpoints, shows them, rolls back, undoes that, and says what is wrong', async () => {
    await using scene = await openCliScene();
    const { work, text, json } = scene;
    await createWork(work);
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
    // The same again finds it; other settings are refused.
    const again = ['session', 'start', '--root', '.', '--id', 'mine', '--metadata'];
    expect(await json([...again, 'by=test'])).toEqual(started);
    expect(await scene.run([...again, 'by=another'])).toMatchObject({ code: 4 });
    const atOnce = ['session', 'start', '--root', '.', '--id', 'at-once'];
    const [one, other] = await Promise.all([json(atOnce), json(atOnce)]);
    expect(one).toEqual(other);
    await text(['session', 'end', 'at-once']);

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
    expect(await text(['blame', 'api/a.txt', '--at', 'msg-1'])).toMatch(/^cp-2 +msg-1 +1 {2}two$/m);
    expect(await json(['blame', './new.txt', '--lines', '1'], join(work, 'web'))).toMatchObject({
      repository: 'web',
      origins: [{ kind: 'checkpoint', messageId: 'msg-2' }],
    });
    expect(await scene.run(['blame', 'api/a.txt'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^PathNotFound: .* Message "msg-2" removed it: cp-00000003-/m),
    });

    // A stream keeps the words, a moment later.
    await vi.waitFor(async () => expect(await text(['search', 'NEW.txt'])).toContain('web/new.txt'), 30_000);
    expect(await json(['search', 'api', 'a.txt', '--limit', '1'])).toMatchObject({
      calls: [{ messageId: 'msg-2', paths: ['api/a.txt'] }],
      looked: { sessions: expect.any(Number) },
    });

    expect(await text(['rollback', '--to', 'msg-1', '--dry-run'])).toContain('Plan: back to msg-1');
    expect(existsSync(join(work, 'api/a.txt'))).toBe(false);

    const cut = await scene.run(['rollback', '--to', 'cp-00000002', '--yes']);
    expect(cut).toMatchObject({ code: 3, stdout: '' });
    expect(cut.stderr).toMatch(/^MessageNotFound: "cp-00000002" was taken for a message id/m);

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
    expect(await text(['log'])).toContain('undo point');
    const nothingToUndo = await scene.run(['undo', '--yes']);
    expect(nothingToUndo).toMatchObject({ code: 3, stdout: '' });
    await json(['redo', '--yes']);
    expect(existsSync(join(work, 'web/new.txt'))).toBe(false);
    await json(['undo', '--yes']);
    expect(await readFile(join(work, 'web/new.txt'), 'utf8')).toBe('new\n');

    // What is wrong is said in words and as JSON, by exit code.
    const unknown = await scene.run(['log', '--session', 'nobody', '--json']);
    expect(unknown.code).toBe(3);
    expect(unknown.stdout).toBe('');
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { name: 'SessionNotFound', exitCode: 3 } });
    await mkdir(join(work, 'empty'));
    const nothing = await scene.run(['session', 'start', '--root', 'empty', '--no-loose']);
    expect(nothing.code).toBe(3);
    expect(nothing.stderr).toMatch(/^NoRepositories: /m);
    const loose = await text(['session', 'start', '--root', 'empty', '--id', 'notes']);
    expect(loose).toMatch(/Session notes started over files in no repository\./);
    expect(loose).toMatch(/^\. +- +files in no repository$/m);
    await mkdir(join(work, 'web/pages'));
    const inside = await scene.run(['session', 'start', '--root', 'web/pages']);
    expect(inside.code).toBe(3);
    expect(inside.stderr).toContain(`directory of the git repository ${join(work, 'web')}. `);
    expect(inside.stderr).not.toMatch(/git init|initiali[sz]e/);
    const nowhere = await scene.run(['session', 'start', '--root', './nowhere']);
    expect(nowhere).toMatchObject({ code: 3, stdout: '' });
    expect(nowhere.stderr).toContain('does not exist');
  });
});
