/** bin/walkback.mjs starts on any Node that a machine may have, and says in words when it cannot. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../contract/exit-codes.ts';
import { userName } from '../../kit/machine-user.ts';
import { PROJECT } from '../../local/template.ts';
import manifest from '../../package.json' with { type: 'json' };

const LAUNCHER = join(PROJECT, 'bin/walkback.mjs');

/** What the oldest of them, Node 16, has. */
const OLD: Record<string, string[]> = {
  'node:child_process': ['spawn'],
  'node:fs': ['existsSync'],
  'node:os': ['constants'],
  'node:url': ['fileURLToPath'],
};

test('names no import and uses no syntax that an old Node lacks', async () => {
  const source = await readFile(LAUNCHER, 'utf8');
  const imports = [...source.matchAll(/^import (?:\{ (.*) \}|\* as \w+) from '(.*)';$/gm)];
  expect(imports).toHaveLength(source.match(/^import /gm)?.length ?? 0);
  for (const [, names = '', from = ''] of imports)
    for (const name of names.split(', ').filter((one) => one !== '')) expect(OLD[from]).toContain(name);
  const [old, modern] = await Promise.all(
    ['node16', 'esnext'].map((target) => transform(source, { target, format: 'esm' })),
  );
  expect(old?.code).toBe(modern?.code);
});

/** A Node of the machine that is too old for the program; the one of the package is not on this list. */
const oldNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .concat('/usr/bin', '/usr/local/bin')
  .filter((directory) => !directory.includes('node_modules'))
  .map((directory) => join(directory, 'node'))
  .find(
    (path) =>
      existsSync(path) &&
      Number(execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')[0]) < 24,
  );

describe.runIf(oldNode !== undefined)('on the old Node of this machine', () => {
  const run = (launcher: string, ...args: string[]) =>
    spawnSync(oldNode ?? '', [launcher, ...args], { encoding: 'utf8' });

  test('it starts the command on the Node of the package, with its arguments and its exit code', () => {
    expect(run(LAUNCHER, '--version')).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
    expect(run(LAUNCHER, 'no-such-command').status).toBe(EXIT_CODES.usage.code);
  });

  test('it says in words what is missing when that is not installed', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-launcher-'));
    await cp(LAUNCHER, join(directory.path, 'bin/walkback.mjs'));
    const ended = run(join(directory.path, 'bin/walkback.mjs'), '--version');
    expect(ended.status).toBe(EXIT_CODES.configuration.code);
    expect(ended.stderr).toMatch(
      /^walkback needs Node 24 or newer; this is v\S+\. Run npm ci first: it brings Node 24\.\n$/,
    );
  });
});

/** A module that makes a process believe that it is on another machine. */
const elsewhere = async (directory: string, platform: string): Promise<string> => {
  const path = join(directory, `${platform}.mjs`);
  const values = { platform, arch: 'arm64' };
  const lines = Object.entries(values).map(
    ([name, value]) => `Object.defineProperty(process, '${name}', { value: '${value}' });`,
  );
  await writeFile(path, lines.join('\n'));
  return path;
};

test.each(['bin/walkback.mjs', 'bin/packaged.mjs'])(
  '%s: on another system it says in one sentence where it runs, before anything else',
  async (launcher) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-launcher-'));
    const module = await elsewhere(directory.path, 'win32');
    const ended = spawnSync(process.execPath, ['--import', module, join(PROJECT, launcher), 'log'], {
      encoding: 'utf8',
    });
    expect(ended).toMatchObject({
      status: EXIT_CODES.configuration.code,
      stdout: '',
      stderr: 'walkback runs on Linux and macOS; this is win32 on arm64.\n',
    });
  },
);

test.each([[['log']], [['up']], [['up', '--detach']], [['env']], [['demo']]])(
  'on macOS, walkback %j says in one sentence what cannot run there, and what can',
  async (command) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-launcher-'));
    const module = await elsewhere(directory.path, 'darwin');
    const ended = spawnSync(process.execPath, ['--import', module, LAUNCHER, ...command], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory.path, WALKBACK_DATA: join(directory.path, 'data') },
    });
    expect(ended.stderr).toContain(
      'ConfigurationError: The embedded cloud needs Linux on x64; this is darwin on arm64.',
    );
    expect(ended.stderr).toContain('--aws');
    expect(ended.status).toBe(EXIT_CODES.configuration.code);
  },
);

test('package.json asks of whoever installs it what the launcher and npm need', async () => {
  for (const launcher of ['bin/walkback.mjs', 'bin/packaged.mjs']) {
    const source = await readFile(join(PROJECT, launcher), 'utf8');
    expect(source).toContain(`const PLATFORMS = [${manifest.os.map((name) => `'${name}'`).join(', ')}];`);
  }
  expect(manifest.engines.node).toBe('>=20');
  expect(Number(manifest.devDependencies.node.split('.')[0])).toBe(24);
});

/** Starts the packaged command, which says where its cache is. */
const cacheFor = async (environment: Record<string, string>) => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-packaged-'));
  for (const name of ['bin', 'lib', 'cwd']) await mkdir(join(directory.path, name));
  await cp(join(PROJECT, 'bin/packaged.mjs'), join(directory.path, 'bin/walkback.mjs'));
  const main = "import { getCompileCacheDir } from 'node:module';\nconsole.log(getCompileCacheDir());\n";
  await writeFile(join(directory.path, 'lib/main.mjs'), main);
  const { PATH = '' } = process.env;
  const { stdout, signal } = spawnSync(process.execPath, [join(directory.path, 'bin/walkback.mjs')], {
    encoding: 'utf8',
    cwd: join(directory.path, 'cwd'),
    env: { PATH, ...environment },
    // Where it never comes back, nothing but a signal ends it.
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  return { stdout, signal, inCwd: await readdir(join(directory.path, 'cwd')) };
};

test.skipIf(userName() === undefined)(
  'an empty HOME does not put the cache of the packaged command into the current directory',
  async () => {
    const { stdout, inCwd } = await cacheFor({ HOME: '' });
    expect(stdout).toMatch(new RegExp(`^${join(userInfo().homedir, '.cache/walkback/compile')}`));
    expect(inCwd).toEqual([]);
  },
);

test('the packaged command has its cache in directories that it makes', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'walkback-home-'));
  const HOME = join(home.path, 'not/yet');
  expect((await cacheFor({ HOME })).stdout).toMatch(new RegExp(`^${join(HOME, '.cache/walkback/compile')}`));
});

test.each([
  ['where no directory can be made', '/proc/nobody'],
  ['where a file is', '/dev/null'],
])('the packaged command does without a cache %s', async (_where, HOME) => {
  expect(await cacheFor({ HOME })).toEqual({ stdout: 'undefined\n', signal: null, inCwd: [] });
});
