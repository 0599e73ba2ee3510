/** What a step that runs many children answers when much is to be told. */
import { describe, expect, test } from 'vitest';
import { childrenResult } from '../../core/saga/decide/children-result.ts';
import type { SeenChild } from '../../core/saga/decide/saga-events.ts';
import type { PinnedChildrenStep } from '../../core/saga/model/children.ts';
import { MAX_RESULT_BYTES } from '../../core/saga/model/tool.ts';
import { MAX_CHILDREN } from '../../core/saga/plan/plan-shape.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { put, ROOT, runTree, standingSteps } from '../support/tree-saga.ts';

/** The longest message that a tool's error has in a ledger. */
const MESSAGE = 4000;
const CHARACTERS = ['e', '漢', '😀', '"', '\u0001'];

describe.each(CHARACTERS)('children that fail with long messages of %j', (character) => {
  const message = character.repeat(MESSAGE / character.length);

  test.each(['isolate', 'report'] as const)(
    '%s: what stands stays, and the result tells of each',
    async (onBranchFailure) => {
      const { saga, status } = await runTree({
        input: { list: Array.from({ length: MAX_CHILDREN }, (_, n) => ({ key: `k${n}`, fail: n > 0 })) },
        plan: {
          steps: [
            {
              id: 'each',
              each: '{% input.list %}',
              plan: {
                steps: [
                  {
                    id: 'one',
                    tool: 'put',
                    arguments: { key: '{% input.key %}', fail: '{% input.fail %}', stuck: false },
                  },
                ],
              },
              onBranchFailure,
            },
            put('after'),
          ],
        },
        around: (answer) => async (request) =>
          request.operation === 'execute' && request.arguments['fail'] === true
            ? { Payload: { outcome: 'rejected', retryable: false, error: { name: 'Refused', message } } }
            : answer(request),
      });
      expect(status).toBe('COMPLETED');
      expect(standingSteps(saga)).toEqual(['after', 'k0']);
      const entry = saga.memory.ledger.get(ROOT)?.find((one) => one.status === 'committed');
      const result = entry !== undefined && 'result' in entry ? entry.result : undefined;
      expect(jsonBytes(result)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      const told = Array.from({ length: MAX_CHILDREN - 1 }, () => ({
        status: 'COMPENSATED',
        error: { name: 'Refused', message: expect.stringMatching(/./su) },
      }));
      expect(result).toEqual([{ status: 'COMPLETED', output: null }, ...told]);
    },
  );
});

describe('beside outputs', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that matters of a step here
  const step = { tool: 'branches' } as PinnedChildrenStep;
  const child = (branch: string, more: Partial<SeenChild>): SeenChild => ({
    branch,
    sagaId: branch,
    status: 'COMPLETED',
    seq: 1,
    tip: '',
    ...more,
  });
  const failed = child('no', {
    status: 'COMPENSATED',
    error: { name: 'Refused', message: 'm'.repeat(MESSAGE) },
  });
  const outputOf = (bytes: number) => child('yes', { output: 'o'.repeat(bytes) });
  const bare = jsonBytes({
    yes: { status: 'COMPLETED', output: '' },
    no: { status: 'COMPENSATED', error: { name: 'Refused', message: '' } },
  });

  test.each([0, 1, 2, 100, MESSAGE, MESSAGE + 1])('a message has the %i bytes that are left', (left) => {
    const result = childrenResult(step, [outputOf(MAX_RESULT_BYTES - bare - left), failed]);
    expect(jsonBytes(result)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(result).toMatchObject({ no: { error: { name: 'Refused' } } });
  });

  test('outputs that are too large themselves have no result', () => {
    expect(childrenResult(step, [outputOf(MAX_RESULT_BYTES - bare + 1), failed])).toBeUndefined();
    expect(childrenResult(step, [outputOf(MAX_RESULT_BYTES)])).toBeUndefined();
  });
});
