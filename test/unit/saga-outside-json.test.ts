/** JSON that comes from outside: how deep, how large, and which members. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, jsonProblem, MAX_JSON_DEPTH } from '../../contract/json.ts';
import { putCatalogInput, startSagaInput, submitStepInput } from '../../contract/saga-inputs.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/model/tool.ts';
import { parsePlan } from '../../core/saga/plan/catalog.ts';
import { resolveArguments } from '../../core/saga/plan/expressions.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { readToolResponse } from '../../core/saga/tools/tool-protocol.ts';
import { canonicalJson } from '../../core/shared/canonical-json.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { evaluate, step, TOOLS } from '../support/plan-tools.ts';
import { isReadable } from '../support/readable-json.ts';
import { chosenSeed } from '../support/sampling.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

/** As text: what is nested very deep cannot be built by a walk that recurses. */
const nested = (depth: number, array: boolean): unknown =>
  JSON.parse(
    array ? `${'['.repeat(depth)}1${']'.repeat(depth)}` : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );

const engine = {
  start: async () => 'started' as const,
  look: async () => 'running' as const,
  wake: async () => true,
};

/** Every way in, each with the error that says so. */
const WAYS: Record<string, (value: unknown) => Promise<string>> = {
  'the input of a saga': async (value) => {
    const store = memorySagaStore();
    for (const tool of TOOLS) await store.store.putTool(tool);
    const start = createStartSaga({ store: store.store, engine, clock: virtualClock(), evaluate });
    const request = { sagaId: 's', input: value, plan: { steps: [step('a', 'pay')] }, requestedBy: 'me' };
    return named(async () => start({ sagaId: 's', ...parseInput(startSagaInput(), request) }));
  },
  'arguments of a plan': (value) =>
    named(async () =>
      parseInput(startSagaInput(), {
        input: {},
        plan: { steps: [{ id: 'a', tool: 'look', arguments: { value } }] },
        requestedBy: 'me',
      }),
    ),
  'a tool in the catalog': (value) =>
    named(async () =>
      parseInput(putCatalogInput(), { tools: [{ schemas: { input: value } }], definitions: [] }),
    ),
  'a result of a tool': async (value) => {
    const outcome = readToolResponse({ outcome: 'committed', result: value });
    return outcome.outcome === 'committed' ? (outcome.error?.name ?? 'taken') : outcome.outcome;
  },
  'the value of an expression': (value) =>
    named(() =>
      resolveArguments(
        { a: '{% $merge([{"v": steps.a.result}]) %}' },
        {
          input: {},
          steps: { a: { result: value as Json, externalRef: null } },
        },
        evaluate,
      ),
    ),
};

const named = async (act: () => Promise<unknown>): Promise<string> => {
  try {
    await act();
    return 'taken';
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
};

const REFUSED: Record<string, string> = {
  'the input of a saga': 'InvalidInput',
  'arguments of a plan': 'InvalidInput',
  'a tool in the catalog': 'InvalidInput',
  'a result of a tool': 'InvalidResult',
  'the value of an expression': 'ArgumentsUnresolved',
};

describe.each(Object.entries(WAYS))('%s', (way, take) => {
  test('is refused by name when it is nested 3,000 deep, or 300,000', async () => {
    expect(await take(nested(3_000, false))).toBe(REFUSED[way]);
    if (way !== 'the value of an expression') expect(await take(nested(300_000, true))).toBe(REFUSED[way]);
  });

  test('is refused when a member is called __proto__', async () => {
    if (way === 'the value of an expression') return;
    expect(await take(JSON.parse('{"deep":[{"__proto__":{"admin":true}}]}'))).toBe(REFUSED[way]);
  });
});

describe('the limit of depth', () => {
  test('is where it is said to be, for any nesting around it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: MAX_JSON_DEPTH - 3, max: MAX_JSON_DEPTH + 3 }),
        fc.boolean(),
        (depth, array) => {
          const problem = jsonProblem(nested(depth, array));
          expect(problem === undefined).toBe(depth <= MAX_JSON_DEPTH);
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  test('of results: one that is too large took effect all the same, however large it is', () => {
    const result = 'x'.repeat(10 * MAX_RESULT_BYTES);
    expect(readToolResponse({ outcome: 'committed', result })).toMatchObject({
      outcome: 'committed',
      result: null,
      error: { name: 'ResultTooLarge' },
    });
  });

  test('of results is met on both sides of the limit of their size', () => {
    fc.assert(
      fc.property(fc.integer({ min: -60, max: 60 }), (more) => {
        const outcome = readToolResponse({
          outcome: 'committed',
          externalRef: 're-1',
          result: 'x'.repeat(MAX_RESULT_BYTES - 2 + more),
        });
        expect(outcome).toMatchObject(
          more <= 0
            ? { outcome: 'committed', externalRef: 're-1' }
            : {
                outcome: 'committed',
                externalRef: 're-1',
                result: null,
                error: { name: 'ResultTooLarge', message: expect.stringContaining(`${MAX_RESULT_BYTES}`) },
              },
        );
        expect('error' in outcome).toBe(more > 0);
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});

describe('any other JSON is kept as it is', () => {
  test('whatever its members are called; half a character is replaced', () => {
    const names = fc.oneof(
      fc.constantFrom(
        'constructor',
        'prototype',
        'hasOwnProperty',
        'toString',
        'toJSON',
        'valueOf',
        '',
        '0',
        'length',
      ),
      fc.string(),
      fc.constantFrom('\ud800', '\u0000', '\u2028', 'é', 'e\u0301'),
    );
    const values = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, 0, -0, 1e-7, 1e21, '', '{% no %', '\ud800'),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          names.filter((name) => name !== '__proto__'),
          tie('value'),
          { maxKeys: 4, noNullPrototype: true },
        ),
      ),
    })).value;
    fc.assert(
      fc.property(values.filter(isReadable), (value) => {
        // As it arrives: -0 is 0 there.
        const arrived: Json = JSON.parse(JSON.stringify(value));
        const kept: Json = JSON.parse(JSON.stringify(arrived).replaceAll(String.raw`\ud800`, '\ufffd'));
        const parsed = parseInput(startSagaInput(), { input: arrived, requestedBy: 'me' });
        expect(JSON.stringify(parsed.input)).toBe(JSON.stringify(kept));
        expect(canonicalJson(JSON.parse(canonicalJson(arrived)))).toBe(canonicalJson(arrived));
        const outcome = readToolResponse({ outcome: 'committed', result: arrived });
        expect(outcome).toEqual({ outcome: 'committed', result: kept });
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('and what JSON has not is refused', () => {
    for (const value of [Infinity, Number.NaN, undefined, () => 1, 1n, Symbol('s')]) {
      expect(jsonProblem({ a: [value] }), String(value)).toBeDefined();
    }
  });
});

test('arguments that were left out are said to be missing', async () => {
  const submitted = () => parseInput(submitStepInput(), { sagaId: 's', stepId: 'a', tool: 'pay' });
  expect(submitted).toThrow('arguments: is missing');
  expect(() => parsePlan({ steps: [{ id: 'a', tool: 'pay' }] })).toThrow('steps.0.arguments is missing');
  expect(() => parsePlan({ steps: [{ id: 'a', tool: 'pay', arguments: 1 }] })).toThrow(
    'must be a JSON object',
  );
});
