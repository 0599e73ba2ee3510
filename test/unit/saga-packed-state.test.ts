/** The state of a head as it is stored: small, and readable ever after. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect } from 'vitest';
import { packedState, stateText } from '../../adapters/aws/sagas/packed-state.ts';
import { headItem, readHead } from '../../adapters/aws/sagas/saga-items.ts';
import { toHeadChange } from '../../adapters/aws/sagas/saga-stream.ts';
import { initialState } from '../../core/saga/decide/fold.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import { itemBytes, WRITE_UNIT_BYTES } from '../support/item-size.ts';
import { inTurn } from '../support/sampled-test.ts';
import { committed, finishedHead, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const test = inTurn('saga-packed-state');

/** An image of the table's stream as Lambda hands it over: bytes are base64. */
const asJson = (item: Record<string, unknown>): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(marshall(item, { removeUndefinedValues: true })).map(([name, value]) => [
      name,
      value.B === undefined ? value : JSON.parse(`{"B":"${Buffer.from(value.B).toString('base64')}"}`),
    ]),
  );

const NEW = (): string => {
  const { effects: _, ...small } = initialState(3);
  return JSON.stringify(small);
};

test('what is stored can always be read', () => {
  // When this fails, the dictionary was changed.
  const stored = Buffer.from('o1FaMsaVliChRbOIqAUA', 'base64');
  expect(stateText(stored)).toBe(NEW());
  expect(stateText(packedState(NEW()))).toBe(NEW());
});

test('the head of an interactive saga stays within one write unit, also during a call and after 300 steps', async () => {
  const heads: SagaHead[] = [];
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable')],
    answer: () => committed({ ok: true }),
    storing: (store) => ({
      ...store,
      append: (head, ...rest) => {
        heads.push(head);
        return store.append(head, ...rest);
      },
    }),
  });
  await saga.machine.start({
    sagaId: SAGA,
    interactive: { onIdle: 'unwind' },
    sessionId: 'shop-3fa2c1d0-of-a-customer',
    messageId: 'msg-0123456789',
    project: 'a-project-with-a-name',
    maxConcurrent: 100,
    requestedBy: 'agent-of-the-backend@example.com',
  });
  for (let step = 0; step < 300; step += 1) {
    await saga.machine.submit({
      sagaId: SAGA,
      stepId: `call-${step}`,
      tool: 'pay',
      arguments: {},
      observe: false,
    });
  }
  expect(heads).toHaveLength(600);
  expect(heads.some(({ state }) => state.operation !== null)).toBe(true);
  for (const head of heads) {
    const item = headItem(head);
    expect(itemBytes(item)).toBeLessThanOrEqual(WRITE_UNIT_BYTES);
    expect(readHead(item)).toEqual(head);
    const after = toHeadChange({ eventID: 'one', dynamodb: { NewImage: asJson(item) } }).after;
    expect(after).toEqual(head);
  }
});

test('what is no state is named', async () => {
  const item = headItem(await finishedHead());
  for (const state of [Buffer.from('no state'), 7, undefined, 'no state', NEW()]) {
    expect(() => readHead({ ...item, state })).toThrow(expect.objectContaining({ name: 'LedgerBroken' }));
  }
});
