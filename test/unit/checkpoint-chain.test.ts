import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChainLink } from '../../core/checkpoint/bundles.ts';
import { knownFrom, linksTo, nextStep, prerequisitesOf } from '../../core/checkpoint/capture/chain.ts';
import { BUNDLE_LIMITS } from '../../core/checkpoint/capture/limits.ts';
import type { CapturedRepositoryState, RepositoryState } from '../../core/checkpoint/model.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';

const MIB = 1024 ** 2;
const { maxLinks: MAX_LINKS, maxLightLinks: MAX_LIGHT_LINKS, lightChainBytes: LIGHT } = BUNDLE_LIMITS;
const H1 = '1'.repeat(40);
const H2 = '2'.repeat(40);

const state = (more: Partial<CapturedRepositoryState>): RepositoryState => ({
  path: 'app',
  state: 'captured',
  commit: 'c',
  tree: 't',
  meta: 'm',
  changed: true,
  bundleBytes: 0,
  chainId: 'chain',
  link: 3,
  firstBytes: 100,
  chainBytes: 400,
  base: `sha1-${H1}`,
  baseCommit: H1,
  baseOwner: 'tenant/t',
  baseBytes: 10 * MIB,
  head: H1,
  ...more,
});

const link = (commit: string, previous: string | null, at: number): ChainLink => ({
  sessionId: 's',
  repositoryPath: 'app',
  chainId: 'chain',
  link: at,
  commit,
  previous,
  bundle: { key: commit, sizeBytes: 1, sha256: '' },
  expiresAt: 0,
});

describe('how the next capture is stored', () => {
  test('appends while the chain is short and light', () => {
    expect(nextStep(state({}))).toBe('append');
  });

  test('starts over after 32 light links, and after 64', () => {
    expect([MAX_LIGHT_LINKS, MAX_LINKS]).toEqual([32, 64]);
    const at = (last: number, chainBytes: number) => nextStep(state({ link: last - 1, chainBytes }));
    expect(at(MAX_LIGHT_LINKS - 1, LIGHT)).toBe('append');
    expect(at(MAX_LIGHT_LINKS, LIGHT)).toBe('restart');
    expect(at(MAX_LIGHT_LINKS, LIGHT + 1)).toBe('append');
    expect(at(MAX_LINKS - 1, LIGHT + 1)).toBe('append');
    expect(at(MAX_LINKS, LIGHT + 1)).toBe('restart');
  });

  test('starts over when the links since the first outweigh base and first link', () => {
    expect(nextStep(state({ chainBytes: 9 * MIB }))).toBe('append');
    expect(nextStep(state({ chainBytes: 11 * MIB }))).toBe('restart');
  });

  test('a small chain never starts over because of its weight', () => {
    expect(nextStep(state({ baseBytes: 1000, chainBytes: 4 * MIB }))).toBe('append');
    expect(nextStep(state({ baseBytes: 1000, chainBytes: 5 * MIB }))).toBe('restart');
  });

  test('a heavy first link alone does not make every checkpoint start over', () => {
    const heavy = state({ link: 0, baseBytes: MIB, firstBytes: 50 * MIB, chainBytes: 50 * MIB });
    expect(nextStep(heavy)).toBe('append');
  });

  test('makes a new base when the first link is heavy and HEAD has moved', () => {
    const heavy = { link: 63, baseBytes: MIB, firstBytes: 50 * MIB, chainBytes: 51 * MIB };
    expect(nextStep(state({ ...heavy, head: H2 }))).toBe('rebase');
    expect(nextStep(state({ ...heavy, head: H1 }))).toBe('restart');
    expect(nextStep(state({ ...heavy, head: undefined }))).toBe('restart');
  });

  test('bytes a restore reads stay within twice what it must read and the floor, whatever is written', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20 * MIB }),
        fc.array(fc.integer({ min: 1, max: 8 * MIB }), { minLength: 1, maxLength: 300 }),
        (baseBytes, sizes) => {
          let at = state({ link: 0, baseBytes, firstBytes: sizes[0] ?? 0, chainBytes: sizes[0] ?? 0 });
          for (const size of sizes.slice(1)) {
            const starts = nextStep(at) !== 'append';
            at = starts
              ? state({ link: 0, baseBytes, firstBytes: size, chainBytes: size })
              : { ...at, link: (at.link ?? 0) + 1, chainBytes: (at.chainBytes ?? 0) + size };
            const first = at.firstBytes ?? 0;
            const must = baseBytes + first;
            expect(at.link ?? 0).toBeLessThan((at.chainBytes ?? 0) > LIGHT ? MAX_LINKS : MAX_LIGHT_LINKS);
            expect(baseBytes + (at.chainBytes ?? 0)).toBeLessThanOrEqual(
              must + Math.max(must, 4 * MIB) + 8 * MIB,
            );
          }
        },
      ),
    );
  });

  test('nothing is known of a repository that was never captured', () => {
    expect(knownFrom({ path: 'app', state: 'failed', changed: false, bundleBytes: 0 })).toBeUndefined();
    expect(knownFrom(state({ commit: H2, tree: H2, meta: H2 }))).toMatchObject({
      path: 'app',
      next: 'append',
    });
  });

  test('a link stands on the one before it, a first link on its base, one without base on nothing', () => {
    expect(prerequisitesOf('append', { commit: H2 }, H1)).toEqual([H2]);
    expect(prerequisitesOf('restart', { commit: H2 }, H1)).toEqual([H1]);
    expect(prerequisitesOf('rebase', undefined, undefined)).toEqual([]);
  });
});

describe('which links a restore reads', () => {
  test('those from the first to the commit, in order, past links of a writer that lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_LINKS }), fc.nat(), (length, pick) => {
        const mine = Array.from({ length }, (_, at) => link(`c${at}`, at === 0 ? null : `c${at - 1}`, at));
        const losers = mine.map(({ link: at, previous }) => link(`loser${at}`, previous, at));
        const wanted = pick % length;
        const walked = linksTo([...losers, ...mine.toReversed()], 'chain', {
          commit: `c${wanted}`,
          link: wanted,
        });
        expect(walked.map(({ commit }) => commit)).toEqual(
          mine.slice(0, wanted + 1).map((one) => one.commit),
        );
      }),
    );
  });

  test('a gap is BundleMissing', () => {
    const links = [link('c0', null, 0), link('c2', 'c1', 2)];
    expect(() => linksTo(links, 'chain', { commit: 'c2', link: 2 })).toThrow(/no link for commit c1/);
    try {
      linksTo([], 'chain', { commit: 'c0', link: 0 });
    } catch (error) {
      expect(isWalkbackError(error, 'BundleMissing')).toBe(true);
    }
  });

  test('a cycle ends', () => {
    const cycle = [link('a', 'b', 0), link('b', 'a', 1)];
    expect(() => linksTo(cycle, 'chain', { commit: 'b', link: 1 })).toThrow(/no link/);
  });

  test('a commit that a sandbox names again further up changes nothing for what stands on it', () => {
    const honest = [link('c0', null, 0), link('c1', 'c0', 1), link('c2', 'c1', 2)];
    const again = [...honest, link('c1', 'c2', 3), link('c0', 'c1', 4)];
    expect(linksTo(again, 'chain', { commit: 'c2', link: 2 })).toEqual(honest);
  });
});
