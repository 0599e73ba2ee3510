/** What a program without types hands over wrongly is refused by name, before a function is called or a tool runs. */
import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { checkpointed, errors, sagaTools, Walkback } from '../../client/index.ts';
import { checkpointHooks } from '../../client/integrations/claude-agent-sdk.ts';
import { checkpointed as ofLangChain } from '../../client/integrations/langchain.ts';
import { checkpointed as ofOpenAi } from '../../client/integrations/openai-agents.ts';
import { serveTools } from '../../client/serve-tools.ts';
import { createSession } from '../../client/session.ts';

let asked = 0;
const client = new LambdaClient({ region: 'us-east-1' });
client.send = () => {
  asked += 1;
  throw new Error('a function was called');
};
const walkback = new Walkback({ client, onCheckpointError: 'warn', onWarning: () => undefined });
const { invoke, sessions, sagas, tools, ledger } = walkback;
const session = createSession(
  {
    invoke,
    signal: undefined,
    onCheckpointError: 'warn',
    onWarning: () => undefined,
    redact: false,
  },
  's',
  { epoch: 1, seq: 1 },
);
const run = session.run();
const saga = sagas.get('s');
let ran = 0;
const tool = () => void (ran += 1);

/** As a program without types calls it. */
const call = (owner: object, method: string, ...given: unknown[]): unknown => {
  const called: unknown = Reflect.get(owner, method);
  if (typeof called !== 'function') throw new TypeError(`no such method: ${method}`);
  return Reflect.apply(called, owner, given);
};

const CASES: readonly [message: RegExp, refused: () => unknown][] = [
  [/^run\.guard: id is missing\. It must be a text\.$/, () => call(run, 'guard', { name: 'write' }, tool)],
  [/^run\.guard: id is a number\. /, () => call(run, 'guard', { id: 7, name: 'write' }, tool)],
  [/^run\.guard: name is missing\. /, () => call(run, 'guard', { id: 'c' }, tool)],
  [/^run\.guard: id is missing\. /, () => call(run, 'guard')],
  [
    /^run\.guard: execute is missing\. It must be a function\./,
    () => call(run, 'guard', { id: 'c', name: 'w' }),
  ],
  [/^run\.before: what it was given is a text\. It must be an object\./, () => call(run, 'before', 'call-1')],
  [/^run\.before: reason is a number\. /, () => call(run, 'before', { id: 'c', name: 'w', reason: 1 })],
  [/^session\.run: message is a text\. /, () => call(session, 'run', { message: 'do it' })],
  [/^session\.run: message\.id is a number\. /, () => call(session, 'run', { message: { id: 3 } })],
  [
    /^session\.run: onCheckpointError is a text\. .*"block" or "warn"/,
    () => call(session, 'run', { onCheckpointError: 'Warn' }),
  ],
  [/^session\.checkpoint: messageId is null\. /, () => call(session, 'checkpoint', { messageId: null })],
  [/^session\.plan: to is missing\. .*checkpoint id/, () => call(session, 'plan')],
  [/^session\.plan: what it was given is a text\. /, () => call(session, 'plan', 'msg-1')],
  [/^session\.rollback: to is another object\. /, () => call(session, 'rollback', { to: { seq: 3 } })],
  [
    /^session\.rollback: it takes no signal\. A signal goes in the last argument: \{ signal \}\./,
    () => call(session, 'rollback', { to: 'm', signal: AbortSignal.timeout(1000) }),
  ],
  [/^session\.rollback: it takes no dryRun\.$/, () => call(session, 'rollback', { to: 'm', dryRun: true })],
  [
    /^session\.plan: paths is a text\. It must be a list\./,
    () => call(session, 'plan', { to: 'm', paths: 'a' }),
  ],
  [/^session\.checkpoint: it takes no message_id\.$/, () => call(session, 'checkpoint', { message_id: 'm' })],
  [/^session\.run: it takes no messageId\.$/, () => call(session, 'run', { messageId: 'm' })],
  [
    /^A signal goes in the last argument: \{ signal \}\./,
    () => call(session, 'revert', { messageId: 'm', signal: AbortSignal.timeout(1000) }),
  ],
  [
    /^A signal goes in the last argument: \{ signal \}\./,
    () => call(session, 'rollback', { to: 'm' }, AbortSignal.timeout(1000)),
  ],
  [/^the last argument: signal is a number\. /, () => call(session, 'undo', { signal: 1 })],
  [/^the last argument: it takes no to\.$/, () => call(session, 'redo', { to: 'm' })],
  [/^session\.rewind: to is missing\. /, () => call(session, 'rewind', { by: 'ada' })],
  [/^session\.rehydrate: to is a list\. /, () => call(session, 'rehydrate', { to: ['m'] })],
  [/^session\.merge: from\.sessionId is missing\. /, () => call(session, 'merge')],
  [/^session\.verify: commitments is missing\. /, () => call(session, 'verify')],
  [/^session\.diff: to is missing\. /, () => call(session, 'diff', { from: 'm' })],
  [/^session\.revert: what it was given is a text\. /, () => call(session, 'revert', 'm')],
  [/^sessions\.start: options is missing\. /, () => call(sessions, 'start')],
  [/^sessions\.start: root is missing\. .*sandboxId and projectsRoot/, () => call(sessions, 'start', {})],
  [/^sessions\.start: root is a number\. /, () => call(sessions, 'start', { root: 1 })],
  [/^sessions\.start: projectsRoot is missing\. /, () => call(sessions, 'start', { sandboxId: 'b' })],
  [/^sagas\.start: what it was given is null\. /, () => call(sagas, 'start', null)],
  [/^sagas\.interactive: run is a text\. /, () => call(sagas, 'interactive', { run: 'r' })],
  [/^sagas\.get: sagaId is missing\. /, () => call(sagas, 'get')],
  [/^saga\.submit: tool is missing\. /, () => call(saga, 'submit')],
  [/^saga\.submit: stepId is a number\. /, () => call(saga, 'submit', { tool: 't', stepId: 1 })],
  [/^saga\.close: outcome is missing\. /, () => call(saga, 'close')],
  [/^saga\.rewind: to is missing\. /, () => call(saga, 'rewind')],
  [/^tools\.call: tool is missing\. /, () => call(tools, 'call')],
  [/^tools\.put: tools is another object\. /, () => call(tools, 'put', { tools: {} })],
  [/^invoke: request is missing\. /, () => call(ledger, 'query')],
  [/^invoke: request is missing\. /, () => call(walkback, 'preflight')],
  [/^checkpointed: run is missing\. It must be a run\./, () => call({ checkpointed }, 'checkpointed', {})],
  [/^checkpointed: run is another object\. /, () => call({ ofOpenAi }, 'ofOpenAi', [], session)],
  [/^checkpointed: run is missing\. /, () => call({ ofLangChain }, 'ofLangChain')],
  [/^checkpointHooks: session is missing\. /, () => call({ checkpointHooks }, 'checkpointHooks')],
  [/^sagaTools: saga is missing\. /, () => call({ sagaTools }, 'sagaTools', [])],
  [
    /^sagaTools: tools is a list\. .*defineTool/,
    () => call({ sagaTools }, 'sagaTools', [{ execute: tool }], saga),
  ],
  [
    /^serveTools: tools is a list\. .*defineTool/,
    () => call({ serveTools }, 'serveTools', [{ execute: tool }]),
  ],
  [
    /^serveTools: it takes no signal\./,
    () => call({ serveTools }, 'serveTools', [], { signal: AbortSignal.timeout(1000) }),
  ],
  [/^sagaTools: it takes no read\.$/, () => call({ sagaTools }, 'sagaTools', [], saga, { read: ['ls'] })],
  [/^new Walkback: it takes no datadir\.$/, () => Reflect.construct(Walkback, [{ datadir: '/data' }])],
  [
    /^new Walkback: onCheckpointError is true\. /,
    () => Reflect.construct(Walkback, [{ onCheckpointError: true }]),
  ],
];

test.each(CASES)('%s', async (message, refused) => {
  // Some refuse at once, others by a promise; either way nobody gets anything else than this.
  const error: unknown = await Promise.resolve()
    .then(refused)
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(error).toBeInstanceOf(errors.InvalidInput);
  expect(error).toMatchObject({ message: expect.stringMatching(message), retryable: false });
  expect([asked, ran]).toEqual([0, 0]);
});

test('what is left out where it may be is not missed', async () => {
  await run.guard({ id: 'call-1', name: 'write' }, tool);
  expect([asked, ran], 'warned, and the tool ran').toEqual([1, 1]);
  await expect(session.checkpoint()).rejects.toThrow('a function was called');
});
