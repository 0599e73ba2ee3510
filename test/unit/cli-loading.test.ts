import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROJECT = new URL('../..', import.meta.url);

/** Says on stderr what a process loads: every package, and every file of ours. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      const file = url.replace(${JSON.stringify(PROJECT.href)}, '');
      loaded.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1] ?? file);
      return next(url, context);
    },
  });
  process.on('exit', () => console.error(JSON.stringify([...loaded])));
`)}`;

const loadedBy = (script: string, ...args: string[]): string[] => {
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', RECORDER, fileURLToPath(new URL(script, PROJECT)), ...args],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  );
  const loaded: string[] = JSON.parse(stderr);
  return loaded;
};

test('a command loads neither the embedded cloud nor an SDK before it needs one', () => {
  const loaded = loadedBy('cli/main.ts', 'log', '--help');
  expect(loaded).toEqual(expect.arrayContaining(['cli/program.ts', 'commander']));
  expect(
    loaded.filter((name) => /^(@aws|@smithy|e2b|stripe|hono|ajv|zod|local\/|examples\/)/.test(name)),
  ).toEqual([]);
  expect(loaded.filter((name) => name.startsWith('cli/commands/'))).toEqual(['cli/commands/log.ts']);
});

test('the version and the list of commands cost no module of a command, and no library that a view needs', () => {
  for (const asked of ['--version', '--help']) {
    const loaded = loadedBy('cli/main.ts', asked);
    expect(loaded).toEqual(expect.arrayContaining(['cli/commands.ts', 'commander']));
    expect(
      loaded.filter((name) => /^(cli\/(commands|view|target|demo)\/|core\/|zod|string-width)/.test(name)),
    ).toEqual([]);
  }
});

test('a function that needs no sandbox loads nothing of one', () => {
  const loaded = loadedBy('functions/timeline.ts');
  expect(loaded).toEqual(
    expect.arrayContaining(['core/checkpoint/timeline/timeline.ts', '@aws-sdk/client-dynamodb']),
  );
  expect(loaded.filter((name) => /^(e2b|adapters\/(e2b|git)\/)/.test(name))).toEqual([]);
});
