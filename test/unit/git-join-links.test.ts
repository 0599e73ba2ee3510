import { createHash } from 'node:crypto';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { joinBundles, joinLinks } from '../../adapters/git/join-links.ts';
import { checkBundle, parseBundleHeader } from '../../core/checkpoint/capture/bundle.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';
import { runSync } from '../support/run-sync.ts';

const shell = (cwd: string, script: string): string =>
  runSync('/bin/bash', ['-euc', script], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      ...Object.fromEntries(
        ['AUTHOR', 'COMMITTER'].flatMap((who) => [
          [`GIT_${who}_NAME`, 'Test'],
          [`GIT_${who}_EMAIL`, 'test@example.com'],
        ]),
      ),
    },
  }).trim();

/**
 * A repository with a growing file, as a base and a bundle for each later commit; deltas reach back over all of them. One
 * file returns to what it was, so that bundles far apart hold the same object.
 */
const HISTORY = `
  git init -q -b main --object-format="$FORMAT" from; cd from
  seq 1 3000 > long.txt; git add .; git commit -qm base
  git bundle create -q ../0.bundle main
  for i in $(seq 1 20); do
    echo "line $i" >> long.txt; head -c 64 /dev/urandom | base64 > "own $i"
    echo $((i % 3)) > returns
    git add .; git commit -qm "commit $i"
    git rev-parse HEAD~1 HEAD
    git bundle create -q ../$i.bundle main ^main~1
  done`;

describe.each(['sha1', 'sha256'] as const)('links of %s objects', (format) => {
  const directory = mkdtempDisposableSync(join(tmpdir(), 'walkback-join-'));
  afterAll(() => directory[Symbol.dispose]());
  const make = () => {
    const ids = shell(directory.path, `FORMAT=${format}${HISTORY}`).split('\n');
    const at = (name: string) => join(directory.path, name);
    const links = Array.from({ length: 20 }, (_, index) => readFileSync(at(`${index + 1}.bundle`)));
    return { at, links, ...joinBundles(links), before: ids[0] ?? '', tip: ids.at(-1) ?? '' };
  };
  let history: ReturnType<typeof make> | undefined;
  const made = () => (history ??= make());
  const content = `git ls-tree -r main; git log --format=%H main; git show main:long.txt | sha256sum`;

  test('joined are one bundle, which git takes as loose objects', () => {
    const { at, bytes, before, tip } = made();
    checkBundle(bytes, { commit: tip, prerequisites: [before] }, true);
    writeFileSync(at('whole.bundle'), bytes);
    shell(
      directory.path,
      `git clone -q --bare 0.bundle to; cd to; git bundle verify -q ../whole.bundle
       sed '1,/^$/d' ../whole.bundle | git unpack-objects -q
       git update-ref refs/heads/main ${tip}; git fsck --strict --full`,
    );
    expect(shell(at('to'), content)).toBe(shell(at('from'), content));
  });

  test('joined can be cut into the packs they were', () => {
    const { bytes, links, cuts } = made();
    const packs = cuts
      .trim()
      .split('\n')
      .map((line) => {
        const [offset = '', size = '', start = '', trailer = ''] = line.split(' ');
        const plain = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex');
        const objects = bytes.subarray(Number(offset), Number(offset) + Number(size));
        return Buffer.concat([plain(start), objects, plain(trailer)]);
      });
    expect(packs).toEqual(links.map((link) => link.subarray(parseBundleHeader(link).packOffset)));
  });
});

describe('the bundles of a repository', () => {
  const source = (name: string, more: Partial<BundleSource> = {}): BundleSource => ({
    kind: 'link',
    sha256: name.repeat(64),
    sizeBytes: 100,
    ...more,
  });
  const carried = (name: string, before: string): BundleSource => {
    const pack = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x01'), Buffer.from(`object ${name}`)]);
    const bytes = Buffer.concat([
      Buffer.from(`# v2 git bundle\n-${before.repeat(40)}\n${name.repeat(40)} refs/walkback/capture\n\n`),
      pack,
      createHash('sha1').update(pack).digest(),
    ]);
    return source(name, {
      bytes,
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
  };

  test('keep their order; only neighbouring links that the function carries become one', () => {
    const base = source('0', { kind: 'base' });
    const fetched = source('4', { url: 'https://bucket.example.com/4' });
    const [a, b, c, d] = [carried('1', '0'), carried('2', '1'), carried('3', '2'), carried('5', '4')];
    const joined = joinLinks([base, a, b, c, fetched, d]);
    expect(joined).toEqual([
      { ...base, how: 'base' },
      expect.objectContaining({ how: 'small', bytes: expect.anything() }),
      { ...fetched, how: 'small' },
      { ...d, how: 'small' },
    ]);
    const [, { bytes, sha256, sizeBytes } = a] = joined;
    checkBundle(bytes ?? Buffer.of(), { commit: '3'.repeat(40), prerequisites: ['0'.repeat(40)] }, true);
    expect(sha256).toBe(
      createHash('sha256')
        .update(bytes ?? '')
        .digest('hex'),
    );
    expect(sizeBytes).toBe(bytes?.byteLength);
    expect(Buffer.from(bytes ?? '').toString('latin1')).toContain('object 1object 2object 3');
  });

  test('that are none, or one, stay as they are', () => {
    expect(joinLinks([])).toEqual([]);
    const one = carried('1', '0');
    expect(joinLinks([one])).toEqual([{ ...one, how: 'small' }]);
  });

  test('that are large, or hold many objects, are packs of their own and not joined', () => {
    const [a, b, c] = [carried('1', '0'), carried('2', '1'), carried('3', '2')];
    const limits = { smallBytes: b.sizeBytes - 1, smallObjects: 2 };
    const larger = carried('2', '1');
    expect(joinLinks([a, larger, c], limits).map(({ how }) => how)).toEqual(['link', 'link', 'link']);
    const many = { smallBytes: 1000, smallObjects: 1 };
    expect(joinLinks([a, b, c], many).map(({ how }) => how)).toEqual(['link', 'link', 'link']);
    expect(joinLinks([a, b, c], { smallBytes: a.sizeBytes, smallObjects: 2 })).toHaveLength(1);
  });

  test('that hold many objects together are joined, and the sandbox is told', () => {
    const links = [carried('1', '0'), carried('2', '1'), carried('3', '2')];
    const how = (smallObjects: number) => joinLinks(links, { smallBytes: 1000, smallObjects })[0]?.how;
    expect([how(4), how(3), how(2)]).toEqual(['small', 'many', 'many']);
  });
});
