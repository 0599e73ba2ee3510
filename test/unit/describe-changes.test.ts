/** What a checkpoint changed, within a number of bytes: the beginning of each patch, between characters, and a mark where it ends early. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packChanges, packSaid, placeParts } from '../../core/checkpoint/content/content-object.ts';
import { describeChanges } from '../../core/checkpoint/content/describe-changes.ts';
import type { Checkpoint } from '../../core/checkpoint/model.ts';
import { checkpointOf } from '../support/session-items.ts';

const [STATE] = checkpointOf('s', 1).repositories;
const FILE = { path: 'a', change: 'modified', added: 1, deleted: 0, binary: false } as const;

const describeAll = (patches: readonly Uint8Array[], maxBytes: number) => {
  const { object, places } = placeParts(patches.map((patch) => packChanges({ files: [FILE], patch })));
  const paths = patches.map((_, at) => `repository-${at}`);
  const repositories = paths.flatMap((path) =>
    STATE === undefined ? [] : [{ ...STATE, path, change: 'changed' as const }],
  );
  const changes = paths.flatMap((path, at) => {
    const part = places[at];
    return part === undefined ? [] : [{ path, files: 1, added: 1, deleted: 0, part }];
  });
  const content = { changes, object: { key: 'k', sha256: '', sizeBytes: object.length } };
  const checkpoint = checkpointOf('s', 2, { repositories, content });
  const from = { checkpoint, parent: checkpointOf('s', 1), parentId: 'cp-1' };
  return describeChanges(from, object, { path: undefined, maxBytes });
};

/** One to four bytes each, and those that take two or six as JSON. */
const unit = fc.constantFrom('a', 'é', '漢', '😀', '"', '\\', '\u0001', '\n', 'ab漢');

test('each patch is the beginning of what was kept, whole where there is room, and all of them fit', () => {
  let cut = 0;
  let whole = 0;
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ units: fc.array(unit, { minLength: 1, maxLength: 6 }), times: fc.nat({ max: 900 }) }),
        { minLength: 1, maxLength: 4 },
      ),
      fc.integer({ min: 2000, max: 30_000 }),
      (made, maxBytes) => {
        const texts = made.map(({ units, times }) => units.join('').repeat(times));
        const answer = describeAll(
          texts.map((text) => Buffer.from(text)),
          maxBytes,
        );
        expect(answer.repositories.map(({ path }) => path)).toEqual(texts.map((_, at) => `repository-${at}`));
        for (const [at, { patch, truncated }] of answer.repositories.entries()) {
          expect(texts[at]?.startsWith(patch)).toBe(true);
          expect(truncated).toBe(patch !== texts[at]);
          if (truncated) cut += 1;
          else whole += 1;
        }
        expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(maxBytes);
        // With room for the worst case of JSON, nothing is cut.
        const worst = texts.reduce((sum, text) => sum + text.length * 6, 0);
        if (worst * texts.length + 2000 * texts.length <= maxBytes)
          expect(answer.repositories.every(({ truncated }) => !truncated)).toBe(true);
      },
    ),
  );
  expect(cut).toBeGreaterThan(0);
  expect(whole).toBeGreaterThan(0);
});

test('bytes that are no UTF-8 are shown as such, and do not make it longer than it may be', () => {
  const answer = describeAll([Buffer.alloc(20_000, 0x80)], 9000);
  expect(answer.repositories[0]).toMatchObject({ truncated: true });
  expect(answer.repositories[0]?.patch).toMatch(/^\ufffd*$/);
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(9000);
});

describe('the tool call that made the changes', () => {
  const bash = { tool: { name: 'Bash', input: 'npm test' } };
  const edit = { tool: { name: 'Edit', input: 'a.ts' } };
  const madeBy = (parent: Partial<Checkpoint>, more: Partial<Checkpoint> = {}) =>
    describeChanges(
      {
        checkpoint: checkpointOf('s', 3, { messageId: 'm1', content: edit, ...more }),
        parent: checkpointOf('s', 2, { messageId: 'm1', content: bash, ...parent }),
        parentId: 'cp-2',
      },
      undefined,
      { path: undefined, maxBytes: 9000 },
    ).madeBy;

  test('is the one that the checkpoint before was taken for', () => {
    expect(madeBy({})).toEqual({ name: 'Bash', input: 'npm test', truncated: false });
    expect(madeBy({ messageId: 'm0', forMessageId: 'm1' })).toMatchObject({ name: 'Bash' });
    // What was there before a rollback is the work of the call before it.
    expect(madeBy({}, { reason: 'rollback', content: {} })).toMatchObject({ name: 'Bash' });
  });

  test('keeps its long input apart, in the content of that checkpoint', () => {
    const input = 'x'.repeat(3000);
    const { object, places } = placeParts([packSaid({ input })]);
    const content = {
      tool: { name: 'Write' },
      said: places[0],
      object: { key: 'k', sha256: '', sizeBytes: object.length },
    };
    const described = describeChanges(
      {
        checkpoint: checkpointOf('s', 3, { content: edit }),
        parent: checkpointOf('s', 2, { content }),
        parentId: 'cp-2',
        parentObject: object,
      },
      undefined,
      { path: undefined, maxBytes: 9000 },
    );
    expect(described.madeBy).toEqual({ name: 'Write', input, truncated: false });
  });

  test.each<[string, Partial<Checkpoint>, Partial<Checkpoint>]>([
    ['the checkpoint before was taken for none', { content: {} }, {}],
    ['a rollback went back to it', { seq: 1, epoch: 1 }, { epoch: 2, parentSeq: 1 }],
    ['it is the work of another message', { forMessageId: 'm1' }, { messageId: 'm2' }],
    ['it is in another sandbox', { sandboxId: 'other' }, {}],
    ['a merge made it', {}, { reason: 'merge' }],
    ['another process wrote it', {}, { reason: 'late-writes' }],
  ])('is not named where %s', (_, parent, more) => {
    expect(madeBy(parent, more)).toBeUndefined();
  });
});
