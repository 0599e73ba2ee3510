/** Each bound of what is kept of a checkpoint, one below it, at it, and one over it: whole up to the bound, cut and marked behind it. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { CHANGES_LIMITS } from '../../adapters/git/announced.ts';
import { readGitRecord } from '../../adapters/git/git-record.ts';
import { readChanges } from '../../adapters/git/read-changes.ts';
import { packChanges, readChangesPart } from '../../core/checkpoint/content/content-object.ts';
import { createKeepContent } from '../../core/checkpoint/content/keep-content.ts';
import { keptMessage, keptTool, MAX_SAID_BYTES } from '../../core/checkpoint/content/said.ts';
import type { ClaimedChanges } from '../../core/checkpoint/ports/capture.ts';
import { sessionOf } from '../support/session-items.ts';

const around = (bound: number): number[] => [bound - 1, bound, bound + 1];

/** A text of exactly so many bytes, of characters that have 1, 2, 3 or 4 of them. */
const textOf = (bytes: number, character: string): string => {
  const size = Buffer.byteLength(character);
  return character.repeat(Math.floor(bytes / size)) + 'x'.repeat(bytes % size);
};

const CHARACTERS = ['a', 'é', '日', '😀'];

test.each(CHARACTERS)('the text of a message and the input of a tool, of characters like %s', (character) => {
  for (const bytes of around(MAX_SAID_BYTES)) {
    const text = textOf(bytes, character);
    expect(Buffer.byteLength(text)).toBe(bytes);
    const isOver = bytes > MAX_SAID_BYTES;
    const message = keptMessage({ role: 'user', text });
    const tool = keptTool({ name: 'Bash', input: text });
    for (const [kept, isCut] of [
      [message.text ?? '', message.isCut],
      [tool.input ?? '', tool.isCut],
    ] as const) {
      expect(isCut === true, `${bytes}`).toBe(isOver);
      if (!isOver) expect(kept).toBe(text);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(MAX_SAID_BYTES);
      expect(text.startsWith(kept)).toBe(true);
      // No more is lost than the character at the bound.
      expect(Buffer.byteLength(kept)).toBeGreaterThan(MAX_SAID_BYTES - 4);
      expect(kept.isWellFormed()).toBe(true);
    }
  }
});

test('an input that is no text is measured as JSON', () => {
  const wrapping = Buffer.byteLength(JSON.stringify({ a: '' }));
  for (const bytes of around(MAX_SAID_BYTES)) {
    const { input, isCut } = keptTool({ name: 'Bash', input: { a: 'x'.repeat(bytes - wrapping) } });
    expect(isCut === true).toBe(bytes > MAX_SAID_BYTES);
    expect(Buffer.byteLength(input ?? '')).toBe(Math.min(bytes, MAX_SAID_BYTES));
  }
});

test('titles, names and roles', () => {
  const long = (length: number) => 't'.repeat(length);
  for (const [bound, of] of [
    [256, (text: string) => keptMessage({ role: 'user', title: text }).title],
    [256, (text: string) => keptMessage({ role: 'user', text }).title],
    [256, (text: string) => keptTool({ name: text }).name],
    [64, (text: string) => keptMessage({ role: text }).role],
  ] as const) {
    for (const length of around(bound)) {
      const kept = of(long(length)) ?? '';
      expect(kept).toBe(length <= bound ? long(length) : `${long(bound - 1)}…`);
    }
  }
});

const claimed = (path: string): ClaimedChanges => ({
  path,
  files: [{ path: 'a', change: 'modified', added: 1, deleted: 2, binary: false }],
  total: { files: 1, added: 1, deleted: 2 },
  patch: Buffer.from('diff\n'),
  isCut: false,
});

const createPlace = () => {
  const stored: string[] = [];
  const keep = createKeepContent({
    index: async () => undefined,
    bundles: { put: async (key) => void stored.push(key) },
    clock: { now: () => new Date(0), sleep: async () => undefined, every: () => () => undefined },
    log: { info: () => undefined, warn: () => undefined },
  });
  return { keep, stored };
};

test('texts that stay in the item, and those that need an object', async () => {
  const wrapping = Buffer.byteLength(JSON.stringify({ text: '' }));
  for (const bytes of around(1024)) {
    const { keep, stored } = createPlace();
    const message = { role: 'user', text: 'x'.repeat(bytes - wrapping) };
    const content = await keep(sessionOf('s1'), { message }, undefined);
    expect([stored.length, content.message?.text], `${bytes}`).toEqual(
      bytes <= 1024 ? [0, message.text] : [1, undefined],
    );
  }
});

test('repositories of which the changes are told', async () => {
  for (const count of around(200)) {
    const { keep } = createPlace();
    const all = Array.from({ length: count }, (_, n) => claimed(`r${n}`));
    const { changes, problem } = await keep(sessionOf('s1'), {}, all);
    expect(changes).toHaveLength(Math.min(count, 200));
    expect(problem).toBe(count <= 200 ? undefined : 'the changes of 1 more repository are not kept');
  }
});

const recordOf = (count: number): Buffer => {
  const names = Array.from({ length: count }, (_, n) => `f${n}`);
  const raw = names.map((name) => `:100644 100644 1111111 2222222 M\0${name}\0`).join('');
  return Buffer.from(`${raw}${names.map((name) => `1\t2\t${name}\0`).join('')}\0diff --git\n`);
};

test('files that are listed of a repository; the counts are exact', () => {
  for (const count of around(2000)) {
    const { files, total, isWholeList, patch } = readGitRecord(recordOf(count));
    expect(files).toHaveLength(Math.min(count, 2000));
    expect(total).toEqual({ files: count, added: count, deleted: 2 * count });
    expect(isWholeList).toBe(count <= 2000);
    expect(Buffer.from(patch).toString()).toBe('diff --git\n');
  }
});

const nothing = { readFile: async () => Promise.reject(new Error('there is no file')) };
const announced = (path: string, sizeBytes: number) => ({
  path,
  isCut: false,
  file: { sizeBytes, carry: 'inline' as const, isPacked: false },
});
/** A record of one file whose patch fills it up to so many bytes. */
const filling = (bytes: number): Buffer => {
  const head = recordOf(1);
  return Buffer.concat([head, Buffer.alloc(bytes - head.length, 0x61)]);
};

test('bytes of one record: over the bound nothing is read of what the sandbox hands over, and that is said', async () => {
  for (const bytes of around(CHANGES_LIMITS.each)) {
    const [one] = await readChanges(nothing, '/x', [announced('app', bytes)], filling(bytes));
    if (bytes <= CHANGES_LIMITS.each) expect(one).toMatchObject({ total: { files: 1 }, isCut: false });
    else expect(one).toMatchObject({ files: [], problem: 'what the sandbox sent of it cannot be read' });
    expect(one?.patch.length).toBe(bytes <= CHANGES_LIMITS.each ? bytes - recordOf(1).length + 11 : 0);
  }
});

test('bytes of all records together', async () => {
  for (const bytes of around(CHANGES_LIMITS.all)) {
    const each = CHANGES_LIMITS.each - 1;
    const sizes = [each, each, each, each, bytes - 4 * each];
    const all = sizes.map((size, at) => announced(`r${at}`, size));
    const told = await readChanges(
      nothing,
      '/x',
      all,
      Buffer.concat([...sizes.slice(0, 4).map(filling), randomBytes(9)]),
    );
    const isOver = bytes > CHANGES_LIMITS.all;
    expect(told.slice(0, 4).map(({ files }) => files.length)).toEqual(isOver ? [0, 0, 0, 0] : [1, 1, 1, 1]);
  }
});

test('the longest list of files, with names that are six times as long as JSON, is read back', () => {
  const files = Array.from({ length: 2000 }, (_, n) => ({
    path: `${n}${'\u0001'.repeat(1000)}`,
    change: 'added' as const,
    added: 1,
    deleted: 0,
    binary: false,
  }));
  const patch = Buffer.alloc(4 * 1024 ** 2, 0x61);
  const packed = packChanges({ files, patch });
  const read = readChangesPart(packed, { at: 0, bytes: packed.length });
  expect(JSON.stringify(read.files) === JSON.stringify(files)).toBe(true);
  expect(Buffer.compare(read.patch, patch)).toBe(0);
});
