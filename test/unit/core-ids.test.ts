import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ID_PATTERN, RESERVED_ID_PREFIX } from '../../contract/ids.ts';
import {
  BASE_NAME_PATTERN,
  checkpointId,
  checkpointSeq,
  repositoryKey,
  rollbackToolId,
  timeSortableId,
} from '../../core/shared/ids.ts';

describe('ids', () => {
  test('a checkpoint id gives back its sequence number', () => {
    fc.assert(
      fc.property(fc.nat(99_999_999), fc.string(), (seq, tool) => {
        expect(checkpointSeq(checkpointId('s', seq, tool))).toBe(seq);
      }),
    );
  });

  test('other texts are no checkpoint ids', () => {
    for (const text of ['', 'cp-1-00000000', 'cp-00000001', 'cp-00000001-xyz', ' cp-00000001-00000000']) {
      expect(checkpointSeq(text)).toBeUndefined();
    }
  });

  test('ids we make are ids', () => {
    expect(timeSortableId('s', new Date(0), 'abcdefghijkl')).toMatch(ID_PATTERN);
    expect(rollbackToolId('r'.repeat(64), 12)).toMatch(ID_PATTERN);
    expect(rollbackToolId('r1', 1)).toContain(RESERVED_ID_PREFIX);
  });

  test('generated ids sort by time', () => {
    const at = (year: number) => timeSortableId('s', new Date(Date.UTC(year, 0)), 'abcdefghij');
    expect([at(2031), at(2026), at(2099)].toSorted()).toEqual([at(2026), at(2031), at(2099)]);
  });

  test('ids with shell or path tricks are refused', () => {
    for (const id of [
      '',
      '-rf',
      '../x',
      'a/b',
      'a b',
      'a\n',
      '$(x)',
      'a;b',
      'ä',
      '.hidden',
      'a'.repeat(65),
    ]) {
      expect(ID_PATTERN.test(id)).toBe(false);
    }
  });

  test('a base name says format, commit, boundary and partial clone', () => {
    const commit = 'a'.repeat(40);
    for (const name of [
      `sha1-${commit}`,
      `sha1-${commit}-s${'0'.repeat(16)}`,
      `sha1-${commit}-p${'0'.repeat(16)}`,
    ]) {
      expect(BASE_NAME_PATTERN.test(name)).toBe(true);
    }
    for (const name of [
      commit,
      `md5-${commit}`,
      `sha1-${commit}/x`,
      `sha1-${commit}-p`,
      `sha1-${commit}-p-p`,
      'sha1-abc',
    ]) {
      expect(BASE_NAME_PATTERN.test(name)).toBe(false);
    }
  });

  test('a repository is named by a short hash of its path', () => {
    expect(repositoryKey('apps/web')).toMatch(/^[0-9a-f]{16}$/);
    expect(repositoryKey('apps/web')).not.toBe(repositoryKey('apps/web2'));
  });
});
