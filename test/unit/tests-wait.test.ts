/** What a test waits for has time: by default vitest gives up after a second, which a busy machine may need for any step. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/template.ts';

/** A call with its arguments, up to the line that closes it. `expect.poll` has its time from vitest.config.ts. */
const CALLS = /^(?<indent> *)(?:.*)\bvi\.wait(?:For|Until)\((?:.*\);$|[\s\S]*?^\k<indent>\);?$|.*$\n.*)/gm;

const withoutTime = (source: string): string[] =>
  [...source.matchAll(CALLS)].map(([call]) => call.trim()).filter((call) => !/timeout|\d_000/.test(call));

test('the rule finds what has no time of its own', () => {
  expect(withoutTime(`  await vi.waitFor(() => seen());\n  later({ timeout: 60_000 });`)).toHaveLength(1);
  expect(
    withoutTime(`const a = vi.waitUntil(\n  () => seen(),\n);\nlater({ timeout: 60_000 });`),
  ).toHaveLength(1);
  expect(withoutTime('await vi.waitFor(() => seen(), 60_000);')).toEqual([]);
});

test('every wait of a test says how long', () => {
  const files = globSync('test/**/*.ts', { cwd: PROJECT }).filter(
    (file) => !file.endsWith('tests-wait.test.ts'),
  );
  const found = files.flatMap((file) =>
    withoutTime(readFileSync(join(PROJECT, file), 'utf8')).map((call) => `${file}: ${call}`),
  );
  expect(files.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});
