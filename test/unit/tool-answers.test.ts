/** What a tool did counts, however its answer is worded and written (S2). */
import { createServer, type Server } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { postJson } from '../../adapters/http/post.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/model/tool.ts';
import { readReply } from '../../core/saga/tools/http-response.ts';
import { MAX_RESPONSE_BYTES, readToolResponse } from '../../core/saga/tools/tool-protocol.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool, type Undone } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { ToolRejected, ToolUncertain } from '../../kit/outcomes.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { isReadable } from '../support/readable-json.ts';
import { chosenSeed } from '../support/sampling.ts';
import { requestOf } from '../support/tool-requests.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

const REPORTED = [
  { outcome: 'committed', result: 1 },
  { outcome: 'rejected', retryable: false, error: { name: 'No', message: 'no' } },
  { outcome: 'unknown', answered: false, error: { name: 'Maybe', message: 'hm' } },
];
const BESIDE = ['externalRef', 'residue', 'reached', 'retryAfterSeconds'];

describe('beside its outcome a tool may say anything', () => {
  test.each(REPORTED)('$outcome', (reported) => {
    const beside = fc.record(
      Object.fromEntries(BESIDE.map((name) => [name, fc.jsonValue().filter(isReadable)])),
      {
        requiredKeys: [],
      },
    );
    fc.assert(
      fc.property(
        beside,
        fc.jsonValue().filter(isReadable),
        fc.jsonValue().filter(isReadable),
        (said, name, message) => {
          const error = reported.error === undefined ? {} : { error: { name, message } };
          const read = readToolResponse({ ...reported, ...said, ...error });
          expect(read.outcome).toBe(reported.outcome);
          if (read.outcome === 'unknown') expect(read.answered).toBe(false);
          if (read.outcome === 'committed') expect(read).toMatchObject({ result: 1 });
          if ('error' in read) expect(read.error?.name).toMatch(/^[\w.-]+$/);
        },
      ),
      { seed: SEED, numRuns: 200 },
    );
  });

  test('a null says nothing, and what is no text is written as one', () => {
    const nulls = { externalRef: null, residue: null, error: null };
    expect(readToolResponse({ outcome: 'committed', result: 1, ...nulls })).toEqual({
      outcome: 'committed',
      result: 1,
    });
    const said = { externalRef: 4711, residue: { fee: '3.00' }, error: 'odd' };
    expect(readToolResponse({ outcome: 'committed', result: 1, ...said })).toEqual({
      outcome: 'committed',
      result: 1,
      externalRef: '4711',
      residue: '{"fee":"3.00"}',
      error: { name: 'ToolError', message: 'odd' },
    });
  });

  test('an error that is not said is none of these outcomes', () => {
    for (const error of [undefined, null]) {
      const read = readToolResponse({ outcome: 'rejected', retryable: false, error });
      expect(read).toMatchObject({ outcome: 'unknown', error: { name: 'InvalidResult' } });
    }
  });
});

describe('the same with the kit, whose authors may have no types', () => {
  const LONG = 'ж'.repeat(200_000);
  const outcomeOf = async (operation: 'execute' | 'compensate', said: unknown): Promise<unknown> => {
    const tool = defineTool({
      name: 'act',
      version: '1',
      description: 'acts',
      input: z.strictObject({ n: z.int() }),
      output: z.any(),
      effect: 'partial',
      idempotencyWindowSeconds: 60,
      externalRef: () => said as string,
      execute: async () => {
        if (said instanceof Error) throw said;
        return {};
      },
      compensate: { name: 'undo_act', execute: async () => said as Undone },
    });
    const answered = await toolHandler([tool], { tombstones: memoryTombstones() })(requestOf({ operation }));
    const written = JSON.stringify(answered);
    expect(Buffer.byteLength(written)).toBeLessThan(2 * MAX_RESULT_BYTES);
    return readToolResponse(JSON.parse(written));
  };

  test.each([
    ['null', null],
    ['a number', 4711],
    ['a large one', 10n],
    ['a boolean', true],
    ['an object', { id: 1 }],
    ['a list', []],
    ['long', LONG],
  ])('a reference that is %s', async (_, said) => {
    expect(await outcomeOf('execute', said)).toMatchObject({ outcome: 'committed', result: {} });
  });

  test.each([
    ['null', null],
    ['true', true],
    ['a text', 'undone'],
    ['a list', []],
    ['nulls', { externalRef: null, residue: null }],
    ['what its provider said', { externalRef: 4711, residue: ['a fee'], status: 'ok', outcome: 'rejected' }],
    ['much', { externalRef: LONG, residue: LONG, result: LONG }],
  ])('an undo that says %s', async (_, said) => {
    expect(await outcomeOf('compensate', said)).toMatchObject({ outcome: 'committed', result: null });
  });

  test('a refusal and a doubt whose code or reference is a number', async () => {
    const code = 402 as unknown as string;
    expect(await outcomeOf('execute', new ToolRejected(code, 'no money'))).toMatchObject({
      outcome: 'rejected',
      error: { name: '402' },
    });
    const doubt = new ToolUncertain(code, 'hm', { externalRef: code });
    expect(await outcomeOf('execute', doubt)).toMatchObject({ outcome: 'unknown', externalRef: '402' });
  });
});

describe('the same over HTTP, whatever wrote the JSON', () => {
  let body: string;
  let url: string;
  const server: Server = createServer((request, response) => {
    request.resume();
    if (body === 'upgrade') {
      request.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
      );
    } else response.end(body);
  });
  beforeAll(async () => {
    url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const read = async (written: string) => {
    body = written;
    const signal = new AbortController().signal;
    const reply = await postJson({ url, headers: {}, body: '{}', signal, maxBytes: MAX_RESPONSE_BYTES });
    return readReply(reply, 0);
  };

  const escaped = (text: string): string =>
    `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

  test.each(['x', 'ж', '語', '😀'])('the largest result, with each character of %s escaped', async (one) => {
    const result = one.repeat((MAX_RESULT_BYTES - 2) / Buffer.byteLength(one));
    const written = `{ "outcome": "committed", "result": ${escaped(result)} }`;
    expect(await read(written)).toEqual({ outcome: 'committed', result });
  });

  test('a mark of the byte order in front', async () => {
    expect(await read('\uFEFF{"outcome":"committed","result":1}')).toEqual({
      outcome: 'committed',
      result: 1,
    });
  });

  test('another protocol is no answer, and nobody waits for one', async () => {
    expect(await read('upgrade')).toMatchObject({ outcome: 'unknown', error: { name: 'Http101' } });
  });
});
