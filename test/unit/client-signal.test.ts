/** Every method that asks a function ends its waiting with a signal, given in one place: the last argument. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { Walkback } from '../../client/index.ts';
import { createSession } from '../../client/session.ts';

let asked = 0;
const client = new LambdaClient({ region: 'us-east-1' });
/** Answers the plan that is applied, and nothing else. */
const send = (
  command: { input: { Payload: string | Uint8Array } },
  options: { abortSignal: AbortSignal },
) => {
  if (Buffer.from(command.input.Payload).includes('"requestId":"planned","dryRun":true')) {
    return Promise.resolve({ Payload: Buffer.from('{"warnings":[]}') });
  }
  asked += 1;
  const { abortSignal } = options;
  return new Promise((_resolve, reject) => {
    abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
  });
};
Object.assign(client, { send });
const walkback = new Walkback({ client });
const { invoke, sessions, sagas, tools, ledger } = walkback;
const session = createSession(
  { invoke, signal: undefined, onCheckpointError: 'block', onWarning: () => undefined, redact: false },
  's',
  { epoch: 1, seq: 1 },
);
const saga = sagas.get('s');
const from = { sessionId: 'f' };
const by = 'ada';
const place = { sandboxId: 'sandbox', projectsRoot: '/work' };
type Call = { signal: AbortSignal };
const METHODS: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
  'walkback.preflight': (call) => walkback.preflight({ template: 't', projectsRoot: '/work' }, call),
  'walkback.invoke': (call) => invoke('timeline', { sessionId: 's' }, call),
  'sessions.start': (call) => sessions.start(place, call),
  'sessions.get': (call) => sessions.get('s', call),
  'sessions.list': (call) => sessions.list(call),
  'sessions.search': (call) => sessions.search('word', {}, call),
  'sessions.progress': (call) => sessions.progress('s', call),
  'sessions.bisect': (call) => sessions.bisect({ sessionId: 's', command: 'true' }, call),
  'sessions.end': (call) => sessions.end('s', call),
  'sessions.copies': (call) => sessions.copies({}, call),
  'sessions.deleteCopy': (call) => sessions.deleteCopy('sandbox', call),
  'session.checkpoint': (call) => session.checkpoint(undefined, call),
  'session.plan': (call) => session.plan({ to: 'm' }, call),
  'plan.apply': async (call) => (await session.plan({ to: 'm', requestId: 'planned' })).apply(call),
  'session.rollback': (call) => session.rollback({ to: 'm' }, call),
  'session.undo': (call) => session.undo(call),
  'session.redo': (call) => session.redo(call),
  'session.revert': (call) => session.revert({ messageId: 'm' }, call),
  'session.fork': (call) => session.fork({}, call),
  'session.merge': (call) => session.merge(from, {}, call),
  'session.rewind': (call) => session.rewind({ to: 'm', by }, call),
  'session.rehydrate': (call) => session.rehydrate({}, call),
  'session.diff': (call) => session.diff({ from: 'm', to: 'now' }, call),
  'session.blame': (call) => session.blame('api/a.txt', {}, call),
  'session.changes': (call) => session.changes({ messageId: 'm' }, call),
  'session.timeline': (call) => session.timeline({}, call),
  'session.verify': (call) => session.verify([], {}, call),
  'session.preflight': (call) => session.preflight({}, call),
  'session.context': (call) => session.context(call),
  'session.refresh': (call) => session.refresh(call),
  'session.end': (call) => session.end({}, call),
  'sagas.start': (call) => sagas.start({ plan: { steps: [] } }, call),
  'sagas.interactive': (call) => sagas.interactive({}, call),
  'sagas.list': (call) => sagas.list({}, call),
  'sagas.locks': (call) => sagas.locks({}, call),
  'saga.describe': (call) => saga.describe({}, call),
  'saga.submit': (call) => saga.submit({ tool: 't', arguments: {} }, call),
  'saga.read': (call) => saga.read({ tool: 't', arguments: {} }, call),
  'saga.close': (call) => saga.close({ outcome: 'complete' }, call),
  'saga.park': (call) => saga.park({ summary: 'later' }, call),
  'saga.rewind': (call) => saga.rewind({ to: { stepId: 's' }, guidance: 'g', by }, call),
  'saga.undo': (call) => saga.undo({ by }, call),
  'saga.operate': (call) => saga.operate({ action: 'cancel', by }, call),
  'saga.answer': (call) => saga.answer({ stepId: 's', decision: 'approve', by }, call),
  'tools.call': (call) => tools.call({ tool: 't', arguments: {} }, call),
  'tools.list': (call) => tools.list(call),
  'tools.put': (call) => tools.put({ tools: [] }, call),
  'ledger.query': (call) => ledger.query({ sagaId: 's' }, call),
  'ledger.entries': (call) => ledger.entries('s', call),
  'ledger.verify': (call) => ledger.verify('s', call),
};

test.each(Object.entries(METHODS))('%s', async (_name, method) => {
  const before = asked;
  const ended = new AbortController();
  const waiting = method({ signal: ended.signal });
  waiting.catch(() => undefined);
  await expect.poll(() => asked).toBe(before + 1);
  const reason = new Error('given up');
  ended.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test('no method is missing', () => {
  // These ask no function: a run has a signal of its own, and the sandbox of a directory is asked by `directoryOf`.
  const others = [
    'sessions.directoryOf',
    'sagas.get',
    'session.run',
    'walkback.close',
    'walkback.connection',
  ];
  const owners = { walkback, sessions, session, sagas, saga, tools, ledger };
  const methods = Object.entries(owners).flatMap(([owner, value]) =>
    Object.entries(value)
      .filter(([, member]) => typeof member === 'function')
      .map(([member]) => `${owner}.${member}`),
  );
  expect(methods.toSorted()).toEqual(
    [...Object.keys(METHODS).filter((name) => name !== 'plan.apply'), ...others].toSorted(),
  );
});
