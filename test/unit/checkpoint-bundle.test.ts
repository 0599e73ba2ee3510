import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkBundle, parseBundleHeader } from '../../core/checkpoint/capture/bundle.ts';
import { createBundle } from '../support/fakes/fake-bundle.ts';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  }).trim();

const commitIn = (directory: string, text: string): string => {
  writeFileSync(join(directory, 'a.txt'), text);
  git(directory, 'add', '.');
  git(directory, 'commit', '-q', '-m', text);
  return git(directory, 'rev-parse', 'HEAD');
};

const madeByGit = (directory: string, ...range: string[]): Uint8Array => {
  git(directory, 'bundle', 'create', '-q', 'x.bundle', ...range);
  return readFileSync(join(directory, 'x.bundle'));
};

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

describe('a bundle made by git', () => {
  test('is read: tip, prerequisites, and a whole pack', () => {
    using directory = mkdtempDisposableSync(join(tmpdir(), 'walkback-bundle-'));
    git(directory.path, 'init', '-q', '-b', 'main');
    const first = commitIn(directory.path, 'one');
    const second = commitIn(directory.path, 'two');
    const base = madeByGit(directory.path, 'main');
    checkBundle(base, { commit: second, prerequisites: [] }, true);
    const link = madeByGit(directory.path, 'main', `^${first}`);
    checkBundle(link, { commit: second, prerequisites: [first] }, true);
    expect(parseBundleHeader(link)).toMatchObject({
      version: 2,
      objectFormat: 'sha1',
      tips: [{ commit: second, ref: 'refs/heads/main' }],
    });
  });

  test('with SHA-256 objects is read too', () => {
    using directory = mkdtempDisposableSync(join(tmpdir(), 'walkback-bundle-'));
    git(directory.path, 'init', '-q', '-b', 'main', '--object-format=sha256');
    const commit = commitIn(directory.path, 'one');
    const bundle = madeByGit(directory.path, 'main');
    checkBundle(bundle, { commit, prerequisites: [] }, true);
    expect(parseBundleHeader(bundle)).toMatchObject({ version: 3, objectFormat: 'sha256' });
  });
});

describe('a bundle that is not what it should be', () => {
  const expected = { commit: A, prerequisites: [B] };
  const good = createBundle(A, [B], { any: 'thing' });
  const packAt = Buffer.from(good).indexOf('PACK');

  test('the good one passes', () => {
    checkBundle(good, expected, true);
    checkBundle(good.subarray(0, 200), expected, false);
  });

  test.each([
    ['another commit', createBundle(B, [B], {}), /does not hold commit/],
    ['no prerequisite where there must be one', createBundle(A, [], {}), /needs nothing/],
    ['another prerequisite', createBundle(A, [A], {}), /where the chain has/],
    ['one prerequisite too many', createBundle(A, [B, A], {}), /where the chain has/],
    ['no bundle at all', Buffer.from('hello\n'), /does not begin like/],
    ['nothing', new Uint8Array(), /header does not end/],
    ['a header without an end', good.subarray(0, 30), /header does not end/],
    ['a header and no pack', good.subarray(0, packAt), /no pack/],
    ['a pack that is cut off', good.subarray(0, good.length - 1), /checksum|cut off/],
    ['a short id', Buffer.from('# v2 git bundle\nabc refs/x\n\nPACK'), /no object id/],
  ])('%s', (_name, bytes, message) => {
    expect(() => checkBundle(bytes, expected, true)).toThrow(message);
  });

  test('any flipped byte of the pack is found', () => {
    for (const at of [good.length - 1, good.length - 25, packAt + 12]) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 1;
      expect(() => checkBundle(bad, expected, true)).toThrow(/checksum/);
    }
  });
});
