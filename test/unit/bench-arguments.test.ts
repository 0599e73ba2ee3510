/** What the benchmarks are told wrong they say at once, in one line and with how they are called, before they measure anything. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampledTest } from '../support/sampled-test.ts';

const PROJECT = join(import.meta.dirname, '../..');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const bench = (program: string, args: readonly string[]): Promise<Ended> => {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  execFile(
    process.execPath,
    [join(PROJECT, 'bench', `${program}.ts`), ...args],
    { env: { PATH: process.env['PATH'] ?? '' } },
    (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
  );
  return promise;
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'walkback-bench-arguments-'));
  await mkdir(join(directory, 'other'));
  await mkdir(join(directory, 'bare/cdk'), { recursive: true });
  await writeFile(join(directory, 'bare/cdk/app.ts'), '');
  await writeFile(join(directory, 'file'), '');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const CASES: Record<string, readonly (readonly [args: string, says: RegExp])[]> = {
  main: [
    ['--only nope', /'nope' is invalid. Choose from checkpoint, peers/],
    ['--only', /'--only <name>' argument missing/],
    ['--only cold --only', /'--only <name>' argument missing/],
    ['--before', /'--before <checkout>' argument missing/],
    ['--before DIR/nowhere', /There is no directory DIR\/nowhere/],
    ['--before DIR/file', /There is no directory DIR\/file/],
    ['--only cold --before DIR/other', /DIR\/other is no checkout of Walkback: it has no cdk\/app\.ts/],
    ['--before DIR/bare', /DIR\/bare has no node_modules: link those of this checkout into it/],
    ['--only bundles --before PROJECT', /--before goes with cold/],
    ['--profile --only cold', /'--profile' cannot be used with option '--only <name>'/],
    ['--profile --before PROJECT', /'--profile' cannot be used with option '--before <checkout>'/],
    ['cold', /too many arguments/],
    ['--cold', /unknown option '--cold'/],
  ],
  checkpoints: [
    ['--checkpoints 0', /"0" is no whole number above 0/],
    ['--sessions many', /"many" is no whole number above 0/],
    ['--at-once 1.5', /"1\.5" is no whole number above 0/],
    ['--minutes', /'--minutes <value>' argument missing/],
    ['--minutes=', /"" is no whole number above 0/],
    ['--nope', /Unknown option '--nope'/],
    ['100', /Unexpected argument '100'/],
  ],
  sagas: [
    ['nope', /"nope" is no whole number above 0/],
    ['10 20', /too many arguments: 20/],
    ['--only nope', /there is no part nope/],
    ['--only faults --only nope', /there is no part nope/],
    ['--only', /'--only <value>' argument missing/],
    ['--load --sagas x', /"x" is no whole number above 0/],
    ['--load --at-once 20 --at-once x', /"x" is no whole number above 0/],
    ['--load --minutes 0', /"0" is no whole number above 0/],
    ['--load --only growth', /--only does not go with --load/],
    ['--load 100', /RUNS does not go with --load/],
    ['--sagas 10', /--sagas goes with --load/],
    ['--at-once 10', /--at-once goes with --load/],
    ['--minutes 10', /--minutes goes with --load/],
    ['--nope', /Unknown option '--nope'/],
  ],
};

const sampled = sampledTest('bench-arguments', 8);
for (const [program, cases] of Object.entries(CASES)) {
  for (const [args, says] of cases) {
    sampled(`bench/${program}.ts ${args}`, async () => {
      const placed = args.replaceAll('DIR', directory).replaceAll('PROJECT', PROJECT);
      const { code, stdout, stderr } = await bench(program, placed.split(' '));
      expect(stderr.replaceAll(directory, 'DIR')).toMatch(says);
      expect(code).not.toBe(0);
      expect(stdout).toBe('');
      // No stack, and nothing was begun.
      expect(stderr).not.toMatch(/^ {4}at |\d+ s {2}/m);
      expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(6);
    });
  }
}

test('one that is interrupted leaves none of its places', async () => {
  const script = `
    import { createPlace } from ${JSON.stringify(join(PROJECT, 'bench/place.ts'))};
    const [one, two] = [await createPlace(), await createPlace()];
    console.log(JSON.stringify([await one.directory('a'), await two.directory('b')]));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: unknown[] = await once(createInterface(child.stdout), 'line');
  const made: string[] = JSON.parse(String(line));
  expect(made.filter((one) => existsSync(one))).toHaveLength(2);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([143, null]);
  expect(made.filter((one) => existsSync(dirname(one)))).toEqual([]);
});
