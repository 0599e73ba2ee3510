/** How the sandbox program reaches a sandbox: real processes, real files, the packaged binaries. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ProgramBuild, readProgramBuild } from '../../adapters/git/program/build.ts';
import { createSandboxProgram } from '../../adapters/git/program/call.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { errorOf } from '../support/error-of.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { runSync } from '../support/run-sync.ts';

const build = readProgramBuild();
const HERE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const places: string[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await rm(place, { recursive: true, force: true });
});

const run = (program: string, args: string[]): string =>
  runSync(program, args, { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } });

interface DeliveryOptions {
  env?: Record<string, string>;
  program?: ProgramBuild;
}

const createPlace = async ({ env, program = build }: DeliveryOptions = {}) => {
  const top = await mkdtemp(join(tmpdir(), 'walkback-delivery-'));
  places.push(top);
  const [home, root] = [join(top, 'home'), join(top, 'projects')];
  await mkdir(home);
  await mkdir(root);
  run('git', ['init', '-q', join(root, 'app')]);
  const sandbox = processSandbox({ PATH: process.env['PATH'] ?? '', ...(env ?? { HOME: home }) });
  const call = () =>
    createSandboxProgram(program).call(sandbox, { kind: 'hello' }, SANDBOX_REPORTS.hello, {
      projectsRoot: root,
      timeoutMs: 240_000,
    });
  return { home, root, sandbox, call, cache: join(home, '.cache/walkback') };
};

const HELLO = { build: build.build, architecture: HERE };

/** A sandbox that says that it runs on another machine: a program `uname` of its own on PATH. */
const machine = async (name: string) => {
  const bin = await mkdtemp(join(tmpdir(), 'walkback-uname-'));
  places.push(bin);
  await writeFile(join(bin, 'uname'), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${process.env['PATH']}`, HOME: bin };
};

describe('the sandbox program', () => {
  test('where it is absent it is brought once, and is there for every later call', async () => {
    const { sandbox, call, cache, root } = await createPlace();
    expect(await call()).toEqual(HELLO);
    // The call that found none, the upload, the call that installed it.
    expect(sandbox.calls).toBe(3);
    expect(await call()).toEqual(HELLO);
    expect(sandbox.calls).toBe(4);
    expect(await readdir(cache)).toEqual([build.digests[HERE]]);
    // Nothing stays in the projects root.
    expect(await readdir(root)).toEqual(['app']);
  });

  test('two first calls at once disturb each other in nothing', async () => {
    const { call, cache } = await createPlace();
    expect(await Promise.all([call(), call(), call(), call()])).toEqual([HELLO, HELLO, HELLO, HELLO]);
    expect(await readdir(cache)).toEqual([build.digests[HERE]]);
  });

  test('a half upload is not installed, and the next call brings a whole one', async () => {
    const place = await createPlace();
    const { sandbox } = place;
    const whole = { ...sandbox };
    sandbox.writeFiles = (files) =>
      whole.writeFiles(files.map((file) => ({ ...file, data: Buffer.from(file.data).subarray(0, 300_000) })));
    await expect(place.call()).rejects.toMatchObject({ name: 'SandboxUnsupported' });
    expect(await readdir(place.cache)).toEqual([]);
    sandbox.writeFiles = (files) => whole.writeFiles(files);
    expect(await place.call()).toEqual(HELLO);
  });

  test('an upload of the right length with another byte is not installed', async () => {
    const place = await createPlace();
    const { sandbox } = place;
    const whole = { ...sandbox };
    sandbox.writeFiles = (files) =>
      whole.writeFiles(
        files.map((file) => {
          const data = Buffer.from(file.data);
          // In the section of names, which running does not need.
          data[data.length - 1] = (data.at(-1) ?? 0) ^ 1;
          return { ...file, data };
        }),
      );
    await expect(place.call()).rejects.toMatchObject({ name: 'SandboxUnsupported' });
    expect(await readdir(place.cache)).toEqual([]);
  });

  test('a program of another build stays beside it, and goes when nobody has started it for a week', async () => {
    const { call, cache } = await createPlace();
    await mkdir(cache, { recursive: true });
    const [fresh, old] = ['c'.repeat(64), 'd'.repeat(64)];
    for (const name of [fresh, old, 'notes.txt']) await writeFile(join(cache, name), name);
    run('touch', ['-d', '8 days ago', join(cache, old), join(cache, 'notes.txt')]);
    expect(await call()).toEqual(HELLO);
    expect((await readdir(cache)).sort()).toEqual([build.digests[HERE], fresh, 'notes.txt'].sort());
  });

  test('a program that is started keeps its place: a start notes that it is in use', async () => {
    const { call, cache } = await createPlace();
    await call();
    const file = join(cache, build.digests[HERE]);
    run('touch', ['-d', '2 days ago', file]);
    await call();
    expect(Date.now() - (await stat(file)).mtimeMs).toBeLessThan(24 * 60 * 60 * 1000);
  });

  test('without HOME, and where the cache cannot be written, it lies in the projects root, where git does not see it', async () => {
    const homes: Record<string, string>[] = [{}, { HOME: '/dev/null' }, { HOME: '/proc/1/none' }];
    for (const env of homes) {
      const { call, root, sandbox } = await createPlace({ env });
      run('git', ['init', '-q', root]);
      expect(await call()).toEqual(HELLO);
      expect(await readdir(join(root, '.agent-shadow/bin'))).toEqual([build.digests[HERE]]);
      expect(await readFile(join(root, '.agent-shadow/.gitignore'), 'utf8')).toBe('*\n');
      expect(run('git', ['-C', root, 'status', '--porcelain'])).not.toContain('.agent-shadow');
      await call();
      expect(sandbox.calls).toBe(4);
    }
  });

  test('XDG_CACHE_HOME has priority over HOME', async () => {
    const cache = await mkdtemp(join(tmpdir(), 'walkback-cache-'));
    places.push(cache);
    const { call } = await createPlace({ env: { HOME: '/dev/null', XDG_CACHE_HOME: cache } });
    expect(await call()).toEqual(HELLO);
    expect(await readdir(join(cache, 'walkback'))).toEqual([build.digests[HERE]]);
  });

  test('a file that cannot be executed in the first place is passed over', async () => {
    const { call, cache, root } = await createPlace();
    await mkdir(cache, { recursive: true });
    // A directory of its name stands in the way of the rename, as nothing of ours does.
    await mkdir(join(cache, build.digests[HERE]));
    await writeFile(join(cache, build.digests[HERE], 'x'), '');
    expect(await call()).toEqual(HELLO);
    expect(await readdir(join(root, '.agent-shadow/bin'))).toEqual([build.digests[HERE]]);
  });

  test('when the files of the sandbox are wiped meanwhile, it is brought again', async () => {
    const { call, home } = await createPlace();
    await call();
    await rm(join(home, '.cache'), { recursive: true });
    expect(await call()).toEqual(HELLO);
  });

  test('nowhere to write is an error that names the places', async () => {
    const { call, root } = await createPlace({ env: { HOME: '/dev/null' } });
    await mkdir(join(root, '.agent-shadow'));
    await writeFile(join(root, '.agent-shadow/bin'), '');
    await expect(call()).rejects.toMatchObject(
      errorOf('SandboxUnsupported', /\/opt\/walkback.*XDG_CACHE_HOME.*\.agent-shadow\/bin/),
    );
  });

  test.for(['.agent-shadow', '.agent-shadow/in'])('nothing is sent through a symlink: %s', async (name) => {
    const { call, root, home } = await createPlace();
    const elsewhere = join(home, 'elsewhere');
    await mkdir(join(elsewhere, 'in'), { recursive: true });
    await mkdir(join(root, '.agent-shadow'));
    await rm(join(root, name), { recursive: true, force: true });
    await symlink(elsewhere, join(root, name));
    await expect(call()).rejects.toMatchObject({
      name: 'SandboxUnsupported',
      message: `${root}/${name} is a symlink. Walkback keeps its own files there: rename or remove it, then call again.`,
    });
    expect(await readdir(elsewhere, { recursive: true })).toEqual(['in']);
    await rm(join(root, name));
    expect(await call()).toEqual(HELLO);
  });

  test('a long request that went through a symlink is taken away, and the symlink is named', async () => {
    const { root, home, sandbox } = await createPlace();
    const elsewhere = join(home, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, join(root, '.agent-shadow'));
    const ended = Array.from({ length: 4_000 }, (_, n) => `a-session-of-a-long-request-${n}`);
    const leftovers = {
      kind: 'leftovers' as const,
      maxDepth: 1,
      ended,
      oldSeconds: 60,
      remove: false,
      lockWaitSeconds: 1,
    };
    const where = { projectsRoot: root, timeoutMs: 240_000 };
    await expect(
      createSandboxProgram(build, true).call(sandbox, leftovers, SANDBOX_REPORTS.leftovers, where),
    ).rejects.toMatchObject(errorOf('SandboxUnsupported', `${root}/.agent-shadow is a symlink.`));
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test('a file in the way of the upload is named', async () => {
    const { call, root } = await createPlace();
    await writeFile(join(root, '.agent-shadow'), 'of the user');
    await expect(call()).rejects.toMatchObject(
      errorOf('SandboxUnsupported', `${root}/.agent-shadow is not a directory.`),
    );
    expect(await readFile(join(root, '.agent-shadow'), 'utf8')).toBe('of the user');
  });

  test('it is not installed through a symlink in the place of the cache', async () => {
    const { call, root, home, cache } = await createPlace();
    const elsewhere = join(home, 'elsewhere');
    await mkdir(elsewhere);
    await mkdir(join(home, '.cache'));
    await symlink(elsewhere, cache);
    expect(await call()).toEqual(HELLO);
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await readdir(join(root, '.agent-shadow/bin'))).toEqual([build.digests[HERE]]);
  });

  test('where only symlinks are in the places, these are named', async () => {
    const { call, root, home, cache } = await createPlace();
    const elsewhere = join(home, 'elsewhere');
    await mkdir(elsewhere);
    await mkdir(join(home, '.cache'));
    await mkdir(join(root, '.agent-shadow'));
    for (const place of [cache, join(root, '.agent-shadow/bin')]) await symlink(elsewhere, place);
    await expect(call()).rejects.toMatchObject(errorOf('SandboxUnsupported', '.agent-shadow/bin'));
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test('a machine that no program is for is named', async () => {
    const { call } = await createPlace({ env: await machine('riscv64') });
    await expect(call()).rejects.toMatchObject({
      name: 'SandboxUnsupported',
      details: { machine: 'riscv64' },
    });
  });

  test('a sandbox that answers nothing, garbage or an endless line gets a named error', async () => {
    for (const stdout of ['', 'walkback', `${'x'.repeat(1_000_000)}\n`]) {
      const place = await createPlace();
      place.sandbox.run = async () => ({ exitCode: 0, stdout, stderr: '' });
      await expect(place.call()).rejects.toMatchObject({ name: 'SandboxUnavailable', retryable: true });
    }
  });

  test('a program without permission to be executed is not started', async () => {
    const { call, cache, sandbox } = await createPlace();
    await call();
    await chmod(join(cache, build.digests[HERE]), 0o644);
    expect(await call()).toEqual(HELLO);
    expect(sandbox.calls).toBe(6);
  });
});
