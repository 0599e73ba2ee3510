/** What people are told of a saga as long as it may be, of which nothing could be undone. */
import { expect, test } from 'vitest';
import { MIB } from '../../contract/sizes.ts';
import { MAX_STEPS } from '../../core/saga/plan/plan-shape.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { RETRY, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

test('a thousand effects that nobody could undo fit one answer, each with its reference and a reason', async () => {
  const wideText = '漢'.repeat(4000);
  const steps = Array.from({ length: MAX_STEPS - 1 }, (_, n) => ({
    id: `s${n}`,
    tool: 'charge',
    arguments: { n },
  }));
  const compensation = { name: 'undo', timeoutSeconds: 10, retry: { ...RETRY, maxAttempts: 1 } };
  const saga = await scriptedSaga({
    tools: [
      scriptedTool('charge', 'compensatable', {
        compensation,
        resourceKey: `'${'漢'.repeat(490)}' & $string(n)`,
      }),
      scriptedTool('stop', 'read'),
    ],
    steps: [...steps, { id: 'stop', tool: 'stop', arguments: {} }],
    answer: ({ operation, step }) =>
      operation === 'execute' && step !== 'stop'
        ? { Payload: { outcome: 'committed', result: {}, externalRef: '漢'.repeat(500) } }
        : {
            Payload: { outcome: 'rejected', retryable: false, error: { name: 'Refused', message: wideText } },
          },
  });
  await saga.begin();
  await saga.machine.settle();
  const { observation } = await saga.seen();
  expect(observation.notCompensated).toHaveLength(steps.length);
  for (const { reason, externalRef } of observation.notCompensated) {
    expect(externalRef).toHaveLength(500);
    expect(reason).toMatch(/^compensation failed: Refused: 漢{300,}$/u);
  }
  // A call of Lambda answers 6 MB at most.
  expect(jsonBytes(observation)).toBeLessThan(5.5 * MIB);
});
