/** Which stored bundles of a target are read before a rollback begins, and which are proved by their checksum. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { GIB, MIB } from '../../contract/sizes.ts';
import type { NeededBundle } from '../../core/checkpoint/restore/needed-bundles.ts';
import { bundlesToRead } from '../../core/checkpoint/restore/target-bundles.ts';

const SMALL = 64 * 1024;

const bundle = (key: string, sizeBytes: number): NeededBundle => ({
  path: 'app',
  kind: 'link',
  bundle: { key, sizeBytes, sha256: key },
});

const keys = (chosen: ReadonlySet<NeededBundle>): string[] =>
  [...chosen].map(({ bundle: { key } }) => key).toSorted();

test('what the sandbox has is read only when that costs no more than asking for its checksum', () => {
  const needed = [bundle('a', SMALL), bundle('b', SMALL + 1), bundle('c', MIB)];
  expect(keys(bundlesToRead(needed, 'all'))).toEqual(['a']);
  expect(keys(bundlesToRead(needed, [bundle('b', SMALL + 1)]))).toEqual(['a', 'c']);
  expect(keys(bundlesToRead(needed, []))).toEqual(['a', 'b', 'c']);
});

test('a base that is too large to read leaves room for all that is smaller', () => {
  expect(keys(bundlesToRead([bundle('base', 2 * GIB), bundle('link', MIB)], []))).toEqual(['link']);
});

test('whatever is needed, the larger ones that are read are no more than 1 GiB together', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: GIB }), { maxLength: 80 }), (sizes) => {
      const needed = sizes.map((size, index) => bundle(String(index), size));
      const large = [...bundlesToRead(needed, [])]
        .map((one) => one.bundle.sizeBytes)
        .filter((size) => size > SMALL);
      expect(large.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(GIB);
      for (const one of needed)
        if (one.bundle.sizeBytes <= SMALL) expect(keys(bundlesToRead(needed, []))).toContain(one.bundle.key);
    }),
  );
});
