/** The client in a bundle that somebody makes of their own program: `import.meta` is not what it was. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, type Format } from 'esbuild';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/program.ts';

/** No cloud runs there, and no command that has it is installed: the client says what to do. */
const PROGRAM = `
  import { errors, Walkback } from './client/index.ts';
  new Walkback({ dataDir: process.argv[2] }).sessions.list().then(
    () => process.stdout.write('answered'),
    (error) => process.stdout.write(error instanceof errors.CloudUnavailable ? error.message : String(error)),
  );
`;

/** As docs/integrations.md has it: packages of CommonJS that the client uses call \`require\`. */
const [, REQUIRE = ''] =
  /banner: \{ js: "([^"]+)" \}/.exec(readFileSync(join(PROJECT, 'docs/integrations.md'), 'utf8')) ?? [];

test.each<{ format: Format; end: string; banner: string }>([
  { format: 'cjs', end: 'cjs', banner: '' },
  { format: 'esm', end: 'mjs', banner: REQUIRE },
])('as $format', async ({ format, end, banner }) => {
  const directory = await mkdtemp(join(tmpdir(), 'walkback-bundled-'));
  try {
    const outfile = join(directory, `program.${end}`);
    await build({
      stdin: { contents: PROGRAM, resolveDir: PROJECT, loader: 'ts' },
      bundle: true,
      platform: 'node',
      format,
      banner: { js: banner },
      outfile,
      logLevel: 'silent',
    });
    const words = [outfile, join(directory, 'data')];
    const env = { PATH: process.env['PATH'], HOME: directory };
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: directory, env });
    expect(stdout).toContain('npm i -D @walkback/cli');
  } finally {
    await rm(directory, { recursive: true });
  }
});
