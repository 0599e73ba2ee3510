/** The npm packages as their users have them: installed from tarballs, away from the sources, on every Node they name. */
import { execFile } from 'node:child_process';
import { glob, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { PROJECT } from '../../local/program.ts';
import manifest from '../../package.json' with { type: 'json' };
import { openStage, registryAnswers, type Stage } from '../support/packages/stage.ts';

const bin = (name: string) => join(PROJECT, 'node_modules/.bin', name);
const ran = promisify(execFile);
const COMMAND = 'node_modules/@walkback/cli/bin/walkback.mjs';

const OLDEST = '20';
/** Of Node 22 and 24. */
const NEWER =
  /\b(?:Promise\.(?:withResolvers|try)|Array\.fromAsync|(?:Object|Map)\.groupBy|(?:Async)?DisposableStack|import\.meta\.(?:main|resolve))\b/;

const isReachable = await registryAnswers();
if (!isReachable)
  process.stderr.write('No npm registry in reach: the packages are not installed and not run.\n');

describe.skipIf(!isReachable)('the packages', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  }, 1_200_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  test('are what the tools that check packages accept', async () => {
    expect(stage.tarballs).toHaveLength(3);
    for (const tarball of stage.tarballs) {
      await ran(bin('publint'), ['run', tarball, '--strict'], { cwd: stage.directory });
      // The command is not imported.
      if (tarball.includes('walkback-cli-')) continue;
      await ran(bin('attw'), [tarball, '--profile', 'esm-only', '--format', 'ascii'], {
        cwd: stage.directory,
      });
    }
  });

  test('compile with tsc --strict, declarations included', async () => {
    const tsc = join(stage.directory, 'node_modules/.bin/tsc');
    const options = ['--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2023'];
    const lib = ['--lib', 'esnext', '--types', 'node', '--outDir', 'out'];
    await ran(tsc, [...options, ...lib, 'example.ts'], { cwd: stage.directory });
    expect(await readdir(join(stage.directory, 'out'))).toEqual(['example.js']);
  });

  test('the modules that are imported use nothing that Node 20 lacks', async () => {
    const modules = join(stage.directory, 'node_modules/walkback');
    const files = await Array.fromAsync(glob('**/*.js', { cwd: modules }));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files)
      expect((await readFile(join(modules, file), 'utf8')).match(NEWER), file).toBeNull();
  });

  test('without the command, the client says what to install', async () => {
    await expect(stage.runAlone(['out/example.js'])).rejects.toThrow(
      /CloudUnavailable[\s\S]*npm i -D @walkback\/cli/,
    );
  });

  test("with Yarn's Plug'n'Play the client starts the cloud, captures, rolls back, and finds what was there", async () => {
    try {
      const said = JSON.parse(await stage.runWithYarn(['node', 'out/example.js']));
      expect(said).toEqual({ back: 'kept\n', name: 'add', safe: 'function' });
    } finally {
      expect(await stage.runWithYarn(['walkback', 'down'])).toContain('The embedded cloud stopped');
    }
  });

  for (const node of [OLDEST, '22', '24']) {
    describe.concurrent(`on Node ${node}`, () => {
      test('the command answers, and on the oldest plays the demo to its end', async () => {
        expect(await stage.run(node, ['--version'])).toMatch(new RegExp(`^v${node}\\.`));
        expect(await stage.run(node, [COMMAND, '--version'])).toBe(`${manifest.version}\n`);
        if (node === OLDEST) expect(await stage.run(node, [COMMAND, 'demo'])).toMatch(/all \d+ equal/);
      });

      test('the example finds the command and starts its cloud, captures, rolls back, and finds what was there', async () => {
        // Nothing runs: the client looks for @walkback/cli where it is installed.
        expect(await stage.run(node, [COMMAND, 'down'])).toContain('No embedded cloud runs');
        try {
          const said = JSON.parse(await stage.run(node, ['out/example.js']));
          expect(said).toEqual({ back: 'kept\n', name: 'add', safe: 'function' });
        } finally {
          expect(await stage.run(node, [COMMAND, 'down'])).toContain('The embedded cloud stopped');
        }
      });

      test('the construct synthesises with the bundles it brought', async () => {
        const out = `cdk-${node}`;
        const said = await stage.run(node, ['app.mjs', out]);
        const ours = FUNCTIONS.filter(({ tool }) => tool !== true);
        expect(Number(said)).toBeGreaterThanOrEqual(ours.length);
        const assets = (await readdir(join(stage.directory, out))).filter((name) =>
          name.startsWith('asset.'),
        );
        expect(assets.length).toBeGreaterThanOrEqual(ours.length);
      });
    });
  }
});
