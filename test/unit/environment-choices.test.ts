/** Variables of the environment that have few values: any other value is refused by the name of the variable. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idleMinutesOf } from '../../cli/target/daemon.ts';
import { openLocalCloud } from '../../cli/target/local-cloud.ts';
import { connect } from '../../client/connect.ts';
import { mayStartDaemon } from '../../client/target.ts';
import { isOn } from '../../functions/runtime.ts';

const refusal = (variable: string) =>
  expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(variable) });

describe('WALKBACK_DAEMON', () => {
  test.each([
    [undefined, true],
    ['', true],
    ['on', true],
    ['off', false],
  ])('%j: in the background? %j', (value, may) => {
    expect(mayStartDaemon({ WALKBACK_DAEMON: value })).toBe(may);
  });

  test.each(['OFF', 'Off', 'false', '0', 'no', ' off'])(
    '%j is refused by the client and by the command, and starts nothing',
    async (value) => {
      await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-choice-'));
      const env = { WALKBACK_DAEMON: value };
      const dataDir = directory.path;
      await expect(connect({ dataDir }, env, '/')).rejects.toEqual(refusal('WALKBACK_DAEMON'));
      const opening = openLocalCloud(dataDir, {
        progress: (_label, work) => work(),
        signal: AbortSignal.abort(),
        env,
        isOwn: true,
        say: () => undefined,
      });
      await expect(opening).rejects.toEqual(refusal('WALKBACK_DAEMON'));
    },
  );
});

test.each(['20000', 'Infinity', ' ', 'abc', '-1'])(
  'WALKBACK_IDLE_MINUTES %j is refused by its name',
  (value) => {
    expect(() => idleMinutesOf({ WALKBACK_IDLE_MINUTES: value })).toThrow('WALKBACK_IDLE_MINUTES');
  },
);

test.each(['', '0', '0.5', '10080'])('WALKBACK_IDLE_MINUTES %j is a time', (value) => {
  expect(idleMinutesOf({ WALKBACK_IDLE_MINUTES: value })).toBe(Number(value || 15));
});

describe('a switch of the functions', () => {
  test.each([
    [undefined, false],
    ['', false],
    ['false', false],
    ['true', true],
  ])('%j is %j', (value, is) => {
    expect(isOn({ SWITCH: value }, 'SWITCH')).toBe(is);
  });

  test.each(['True', 'yes', '1'])('%j is refused: nobody meant to turn it off', (value) => {
    expect(() => isOn({ SWITCH: value }, 'SWITCH')).toThrow(refusal('SWITCH'));
  });
});

test('no other place compares such a variable with one of its values', () => {
  /** What one of our processes says to the next: no person sets it. */
  const own = ['WALKBACK_LOOPBACK_TOOLS'];
  const root = join(import.meta.dirname, '../..');
  const folders = ['adapters', 'cli', 'client', 'console', 'core', 'functions', 'kit', 'local'];
  const files = execFileSync('git', ['ls-files', '-z', ...folders], { cwd: root, encoding: 'utf8' });
  const compared = files
    .split('\0')
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8');
      return [...source.matchAll(/(WALKBACK_[A-Z_]+)'[\])]+\s*[!=]==\s*'[^']/g)].map(([, name]) => name);
    });
  expect(compared.filter((name) => !own.includes(name ?? ''))).toEqual([]);
});
