/** What `rewind` takes: a saga or a session, each with fields of its own. */
import { expect, test } from 'vitest';
import { rewindInput } from '../../contract/rewind.ts';
import { parseInput } from '../../core/shared/parse-input.ts';

const SAGA = { sagaId: 's', to: { steps: 1 }, requestId: 'r', by: 'ada' };
const SESSION = { sessionId: 's', to: { messageId: 'm' }, requestId: 'r', by: 'ada' };

test.each([
  ['a saga', { ...SAGA, planned: { epoch: 0, after: null }, plan: { steps: [] }, scope: 'effects' }],
  ['a saga, to a step', { ...SAGA, to: { stepId: 'pay' } }],
  ['a session', { ...SESSION, epoch: 1, scope: 'conversation' }],
  ['a session, to a checkpoint', { ...SESSION, to: { checkpointId: 'cp-00000001-0123abcd' } }],
])('%s is taken as it is written', (_, request) => {
  expect(parseInput(rewindInput(), request)).toEqual(request);
});

test.each([
  ['both', { ...SAGA, sessionId: 's' }, 'sagaId: give sagaId or sessionId, one of the two'],
  ['neither', { to: SAGA.to, requestId: 'r', by: 'ada' }, 'sagaId: give sagaId or sessionId, one of the two'],
  ['a saga with a message', { ...SAGA, to: SESSION.to }, 'to: give { stepId } or { steps } for a saga'],
  [
    'a session with steps',
    { ...SESSION, to: SAGA.to },
    'to: give { messageId } or { checkpointId } for a session',
  ],
  ['a place that is none', { ...SAGA, to: {} }, 'to: give { stepId } or { steps } for a saga, {'],
  ['the epoch of a session', { ...SAGA, epoch: 1 }, 'epoch: it is of a session'],
  ['the conversation of a saga', { ...SAGA, scope: 'conversation' }, 'scope: a saga has no conversation'],
  ['the plan of a saga', { ...SESSION, plan: { steps: [] } }, 'plan: it is of a saga'],
  [
    'what was planned of a saga',
    { ...SESSION, planned: { epoch: 0, after: null } },
    'planned: it is of a saga',
  ],
  ['nobody who asks', { ...SAGA, by: undefined }, 'by: say who asks, or give a proof'],
])('%s is refused, and the message says what to give', (_, request, message) => {
  expect(() => parseInput(rewindInput(), request)).toThrow(message);
});
