/** What is kept of a checkpoint for people: cut to size, readable again, and never in the way of the checkpoint. */
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readGitRecord } from '../../adapters/git/git-record.ts';
import { readChanges } from '../../adapters/git/read-changes.ts';
import { readChangesPart, readSaid } from '../../core/checkpoint/content/content-object.ts';
import { createKeepContent } from '../../core/checkpoint/content/keep-content.ts';
import { keptMessage, keptTool, MAX_SAID_BYTES } from '../../core/checkpoint/content/said.ts';
import type { ClaimedChanges } from '../../core/checkpoint/ports/capture.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { sessionOf } from '../support/session-items.ts';

describe('what a caller says', () => {
  test('is kept up to 16 KiB, cut between characters, and marked', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 1, max: 2000 }),
        (unit, times) => {
          const text = unit.repeat(times);
          const { text: kept = '', isCut } = keptMessage({ role: 'user', text });
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(MAX_SAID_BYTES);
          expect(text.toWellFormed().startsWith(kept)).toBe(true);
          expect(isCut === true).toBe(Buffer.byteLength(text.toWellFormed()) > MAX_SAID_BYTES);
          expect(Buffer.from(kept, 'utf8').toString('utf8')).toBe(kept);
        },
      ),
    );
  });

  test('has a title of one line: the one given, or the beginning of the text', () => {
    expect(keptMessage({ role: 'user', text: '\n  Fix the bug\nand then' }).title).toBe('Fix the bug');
    expect(keptMessage({ role: 'user', title: 'a\u001b[31mb\nc', text: 't' }).title).toBe('a [31mb c');
    expect(keptMessage({ role: 'user' })).toEqual({ role: 'user' });
    expect(keptMessage({ role: 'user', title: 'x'.repeat(9000) }).title).toHaveLength(256);
  });

  test('of a tool: a text as it is, anything else as JSON', () => {
    expect(keptTool({ name: 'Bash', input: { command: 'ls' } })).toEqual({
      name: 'Bash',
      input: '{"command":"ls"}',
    });
    expect(keptTool({ name: 'Bash', input: 'ls' }).input).toBe('ls');
    expect(keptTool({ name: 'Write', input: { text: 'é'.repeat(20_000) } })).toMatchObject({ isCut: true });
  });
});

const claimed = (path: string, more: Partial<ClaimedChanges> = {}): ClaimedChanges => ({
  path,
  files: [{ path: 'a', change: 'modified', added: 1, deleted: 2, binary: false }],
  total: { files: 1, added: 1, deleted: 2 },
  patch: Buffer.from('diff --git a/a b/a\n'),
  isCut: false,
  ...more,
});

/** A store that notes what is done, in order. */
const createPlace = (fails?: WalkbackError) => {
  const done: string[] = [];
  const objects = new Map<string, Uint8Array>();
  const logged: unknown[] = [];
  const keep = createKeepContent({
    index: async ({ key, place, expiresAt }) =>
      void done.push(`index ${key} ${JSON.stringify(place)} ${expiresAt}`),
    bundles: {
      put: async (key, bytes) => {
        if (fails !== undefined) throw fails;
        done.push(`put ${key}`);
        objects.set(key, bytes);
      },
    },
    clock: {
      now: () => new Date('2026-01-01T00:00:00Z'),
      sleep: async () => undefined,
      every: () => () => undefined,
    },
    log: { info: (...all) => void logged.push(all), warn: (...all) => void logged.push(all) },
  });
  return { keep, done, objects, logged };
};

describe('what is kept', () => {
  test('one object, indexed with its expiry before it is written, and read part by part', async () => {
    const { keep, done, objects } = createPlace();
    const session = sessionOf('s1');
    const text = 'long '.repeat(400);
    const content = await keep(session, { message: { role: 'user', title: 'long', text } }, [
      claimed('api'),
      claimed('none', { files: [] }),
      claimed('web', { patch: Buffer.from([0xff, 0, 0x0a]) }),
    ]);
    const key = content.object?.key ?? '';
    expect(key).toMatch(/^sessions\/s1\/content\/[0-9a-f]{64}\.content$/);
    const days = session.retentionDays + 1;
    const expiry = Date.parse('2026-01-01T00:00:00Z') / 1000 + days * 86_400;
    expect(done).toEqual([`index ${key} {"contentOf":"s1"} ${expiry}`, `put ${key}`]);
    const object = objects.get(key) ?? new Uint8Array();
    expect(content.message).toEqual({ role: 'user', title: 'long' });
    expect(content.said && readSaid(object, content.said)).toEqual({ text });
    const [api, none, web] = content.changes ?? [];
    expect(api?.part && readChangesPart(object, api.part)).toEqual({
      files: claimed('api').files,
      patch: claimed('api').patch,
    });
    expect(none).toEqual({ path: 'none', files: 1, added: 1, deleted: 2 });
    expect(web?.part && [...readChangesPart(object, web.part).patch]).toEqual([0xff, 0, 0x0a]);
  });

  test('small texts stay in the item: no object', async () => {
    const { keep, done } = createPlace();
    const said = { message: { role: 'user', title: 'hi', text: 'hi' }, tool: { name: 'Bash', input: '{}' } };
    expect(await keep(sessionOf('s1'), said, [])).toEqual({ ...said, changes: [] });
    expect(done).toEqual([]);
  });

  test('a store that fails fails nothing: it is said, and no text is in the log', async () => {
    const { keep, logged } = createPlace(new WalkbackError('StorageUnavailable', 'secret words'));
    const content = await keep(sessionOf('s1'), { message: { role: 'user', text: 'x'.repeat(3000) } }, [
      claimed('api'),
    ]);
    expect(content.problem).toContain('StorageUnavailable');
    expect(content.object).toBeUndefined();
    expect(content.changes).toEqual([{ path: 'api', files: 1, added: 1, deleted: 2 }]);
    expect(JSON.stringify(logged)).not.toMatch(/xxx|secret/);
  });

  test('of no more repositories than fit, and of none that a path may not name', async () => {
    const { keep } = createPlace();
    const many = Array.from({ length: 300 }, (_, n) => claimed(`r${n}`));
    const content = await keep(sessionOf('s1'), {}, [claimed('../out'), ...many]);
    expect(content.changes).toHaveLength(200);
    expect(content.problem).toContain('100 more');
    expect(content.changes?.[0]?.path).toBe('r0');
  });
});

const RECORD = Buffer.from(
  ':100644 100644 1111111 2222222 M\x00a\x00:100644 000000 1111111 0000000 D\x00b\x00001\t2\ta\x00-\t-\tb\x00\x00diff --git a/a b/a\n+x\n',
);

describe('a record of git', () => {
  test('is read', () => {
    expect(readGitRecord(RECORD)).toEqual({
      files: [
        { path: 'a', change: 'modified', added: 1, deleted: 2, binary: false },
        { path: 'b', change: 'deleted', added: null, deleted: null, binary: true },
      ],
      total: { files: 2, added: 1, deleted: 2 },
      patch: Buffer.from('diff --git a/a b/a\n+x\n'),
      isWholeList: true,
    });
    expect(readGitRecord(new Uint8Array())).toMatchObject({ files: [], isWholeList: true });
  });

  test('cut anywhere it never throws, and what it lists is a beginning of the whole', () => {
    const whole = readGitRecord(RECORD);
    for (let end = 0; end < RECORD.length; end += 1) {
      const part = readGitRecord(RECORD.subarray(0, end));
      expect(whole.files.map(({ path }) => path).slice(0, part.files.length)).toEqual(
        part.files.map(({ path }) => path),
      );
      expect(Buffer.from(whole.patch).subarray(0, part.patch.length).equals(Buffer.from(part.patch))).toBe(
        true,
      );
    }
  });

  test('of any bytes is read without an error', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...RECORD), fc.nat(255)), { maxLength: 300 }),
        (bytes) => {
          const { files, total } = readGitRecord(Uint8Array.from(bytes));
          expect(files.length).toBeLessThanOrEqual(total.files);
        },
      ),
    );
  });
});

describe('what a hostile sandbox hands over', () => {
  const file = (sizeBytes: number, isPacked = false) => ({
    path: 'app',
    isCut: false,
    file: { sizeBytes, carry: 'inline' as const, isPacked },
  });
  const sandbox = { readFile: async () => Promise.reject(new WalkbackError('SandboxUnavailable', 'gone')) };

  test.each([
    ['a size below zero', [file(-1)], new Uint8Array(9)],
    ['no number', [file(Number.NaN)], new Uint8Array(9)],
    ['more than one may have', [file(1024 ** 2 + 1)], new Uint8Array(2 * 1024 ** 2)],
    ['more than all may have', Array.from({ length: 5 }, () => file(1024 ** 2)), new Uint8Array(9)],
    ['less than it said', [file(100)], new Uint8Array(9)],
    ['no gzip', [file(9, true)], new Uint8Array(9)],
    ['a bomb', [file(gzipSync(new Uint8Array(9_000_000)).length, true)], gzipSync(new Uint8Array(9_000_000))],
    [
      'a file that cannot be read',
      [{ path: 'app', isCut: false, file: { sizeBytes: 5, carry: 'file' as const, isPacked: false } }],
      new Uint8Array(),
    ],
  ])('%s: it is said, and nothing is kept of it', async (_, announced, rest) => {
    const changes = await readChanges(sandbox, '/x', announced, rest);
    expect(changes).toHaveLength(announced.length);
    for (const one of changes) {
      expect(one).toMatchObject({
        files: [],
        total: { files: null },
        problem: 'what the sandbox sent of it cannot be read',
      });
      expect(one.patch).toHaveLength(0);
    }
  });
});
