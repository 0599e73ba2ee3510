/**
 * Each call of a function has its grant, and each grant its call: recorded while every function works on the embedded cloud.
 * That no other scenario needs more is seen in each of them (test/support/granted-calls.ts).
 * The events that it publishes meanwhile are as the schemas say that subscribers are given.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import * as z from 'zod';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { EVENT_DETAILS } from '../../contract/events.ts';
import { createResolver } from '../../local/resolve.ts';
import { loadTemplate, type Template } from '../../local/template.ts';
import { workPeople, workSagas, workSessions } from '../support/all-work.ts';
import { type Permission, recordCalls } from '../support/recorded-calls.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { asArray, statementsOf } from '../support/template.ts';

const test = inTurn('grants');

const OLD_CHAIN =
  'prolongs the chain of a checkpoint once it is older than one retention (core/checkpoint/session/retention.ts)';
const RECORD =
  'prolongs the record of what a checkpoint changed, where it has one (core/checkpoint/session/retention.ts)';
const REPAIRED =
  'reads what a child did that was repaired, for a parent that has ended (core/saga/run/family.ts)';
const QUEUE = 'admits queued sagas whose turn was missed (core/saga/run/hand-back.ts)';
const NEXT = 'wakes who waits for a lock that was given back (core/saga/run/hand-back.ts)';
const FIRST = 'looks whether the first in line for it has an execution (core/saga/run/hand-back.ts)';
const STALE = 'takes out of a line who waits there no longer (core/saga/permits/look.ts)';
const USERS =
  'looks who works in the sandbox of a fork that is discarded (core/checkpoint/copies/expect-unused.ts)';
const FACTS = 'reads the results that a step it prepares refers to (core/saga/prepare/prepare.ts)';
const MOVED = 'reads what a call moved, of a tool that says its amount (core/saga/prepare/price.ts)';
const SUBMITTED = 'finds a submitted step that is being taken back (core/saga/prepare/step-of-saga.ts)';

const LACKING =
  'reads bundles of the target that the sandbox lacks (core/checkpoint/restore/target-bundles.ts)';

/** Grants whose call needs a state of the world that is not made here: what the code makes it for. */
const ELSEWHERE: Record<string, Record<string, string>> = {
  'start-session': {
    'dynamodb:Query': OLD_CHAIN,
    's3:GetObject': 'looks at what the sandbox uploaded, when it was too large for the answer',
  },
  checkpoint: {
    'dynamodb:Query': OLD_CHAIN,
    's3:GetObject': 'looks at what the sandbox uploaded, when it was too large for the answer',
  },
  rollback: { 's3:GetObject': LACKING },
  changes: {
    'dynamodb:Query':
      'reads the tree for a message of many checkpoints (core/checkpoint/content/read-changes.ts)',
  },
  'verify-commitments': { 'dynamodb:BatchWriteItem': RECORD },
  'bisect-session': { 'dynamodb:BatchWriteItem': RECORD },
  'publish-session-events': {
    'dynamodb:Query':
      'looks whether another item names a link that the sandbox uploaded (core/checkpoint/session/publish-session-changes.ts)',
  },
  'end-session': {
    'dynamodb:Query': OLD_CHAIN,
    's3:GetObject': 'looks at what the sandbox uploaded, when it was too large for the answer',
  },
  answer: { 'dynamodb:GetItem': FACTS },
  'operate-saga': { 'dynamodb:GetItem': FACTS },
  sweep: {
    'dynamodb:GetItem': FACTS,
    'dynamodb:Query': `${QUEUE}; ${REPAIRED}`,
    'dynamodb:DeleteItem': QUEUE,
    'states:SendTaskSuccess':
      'wakes an execution whose wake-up was lost a minute ago (core/saga/run/sweep.ts)',
  },
  'close-saga': {
    'dynamodb:GetItem':
      'compares the result with that of the close before it (core/saga/interactive/close.ts)',
    'dynamodb:DeleteItem': STALE,
    'states:SendTaskSuccess':
      'wakes an execution that waits for the approval of a step (core/saga/interactive/close.ts)',
  },
  rewind: { 'dynamodb:GetItem': SUBMITTED, 's3:GetObject': LACKING },
  'advance-saga': {
    'states:StartExecution': 'continues in a new execution after 20,000 events (core/saga/run/move.ts)',
    'states:DescribeExecution': FIRST,
  },
  'park-saga': {
    'dynamodb:GetItem': SUBMITTED,
    'dynamodb:Query': OLD_CHAIN,
    's3:GetObject': 'looks at what the sandbox uploaded, when it was too large for the answer',
    'dynamodb:DeleteItem': STALE,
    'states:StartExecution': 'starts a saga that gets the slot (core/saga/run/hand-back.ts)',
  },
  'start-saga': {
    'dynamodb:DeleteItem': STALE,
    'states:SendTaskSuccess': NEXT,
    'states:DescribeExecution': FIRST,
  },
  'submit-step': {
    'dynamodb:GetItem': MOVED,
    'dynamodb:DeleteItem': STALE,
    'states:SendTaskSuccess': NEXT,
    'states:DescribeExecution': FIRST,
  },
  'call-tool': {
    'dynamodb:GetItem': MOVED,
    'dynamodb:Query': 'takes the lock of an exclusive tool (core/saga/permits/prepare-permits.ts)',
    'dynamodb:DeleteItem': STALE,
    'states:SendTaskSuccess': NEXT,
    'states:DescribeExecution': FIRST,
  },
  'describe-saga': {
    'dynamodb:GetItem': 'looks for questions of children that run still (core/saga/view/family-view.ts)',
  },
  'publish-saga-events': {
    'dynamodb:GetItem': 'tells what stands in sagas below one that failed (core/saga/view/family-view.ts)',
  },
  'workspace-tools': {
    'dynamodb:PutItem': 'buries the key of a call that is taken back (core/saga/tools/tool-guard.ts)',
    'dynamodb:Query': OLD_CHAIN,
    'dynamodb:Scan': USERS,
    'dynamodb:BatchGetItem': USERS,
    's3:GetObject': 'looks at what the sandbox uploaded, when it was too large for the answer',
  },
  'announce-await': {
    'dynamodb:DeleteItem': STALE,
    'states:SendTaskSuccess':
      'wakes at once when the answer came before the token (core/saga/people/answer.ts)',
  },
};

let template: Template;
let sagas: SagaCloud;
let calls: Map<string, Set<Permission>>;

/** What a role grants, in the words of the recording. Logs, traces, streams and dead letters are not calls of our code. */
const grantsOf = (functionName: string): Set<Permission> => {
  const resolver = createResolver(template);
  const nameOf = (resource: unknown): string[] =>
    asArray(resource).map((one) => {
      const arn = String(resolver.value(one));
      const [, table, index] = /:table\/([^/]+)(?:\/index\/(.+))?$/.exec(arn) ?? [];
      if (table !== undefined) return index === undefined ? ` ${table}` : ` ${table} ${index}`;
      const [, bucket] = /^arn:aws:s3:::([^/]+)/.exec(arn) ?? [];
      return bucket === undefined ? '' : ` ${bucket}`;
    });
  // ListBucket is no call: it makes S3 answer 404 for an object that is not there.
  const isCall = (action: string): boolean =>
    action !== 's3:ListBucket' &&
    /^(?:dynamodb|s3|states|events|kms|lambda|secretsmanager):/.test(action) &&
    !/Stream|GetRecords|ShardIterator/.test(action);
  return new Set(
    statementsOf(template, functionName).flatMap(({ Action, Resource }) =>
      asArray(Action)
        .filter(isCall)
        .flatMap((action) => nameOf(Resource).map((name) => `${action}${name}`)),
    ),
  );
};

beforeAll(async () => {
  template = await loadTemplate();
  using recording = recordCalls();
  calls = recording.calls;
  sagas = await startSagaCloud();
  // Functions fetch the key as deployed ones do.
  await workSagas(sagas);
  await workSessions(sagas);
  await workPeople(sagas);
});
afterAll(() => sagas.close());

describe.each(FUNCTIONS.map(({ name }) => name))('%s', (name) => {
  const made = () => calls.get(`walkback-${name}`) ?? new Set<Permission>();

  test('is granted every call it makes', () => {
    expect([...made().difference(grantsOf(`walkback-${name}`))]).toEqual([]);
  });

  test('makes every call it is granted', () => {
    const unused = [...grantsOf(`walkback-${name}`).difference(made())];
    const actions = unused.map((permission) => permission.split(' ')[0] ?? '');
    expect(actions.filter((action) => ELSEWHERE[name]?.[action] === undefined)).toEqual([]);
  });
});

test('every event of a session and of sagas is as its schema says', () => {
  const details: Readonly<Record<string, z.ZodObject>> = EVENT_DETAILS;
  const seen = new Set<string>();
  for (const { kind, type = '', body } of sagas.cloud.events()) {
    if (kind === 'notification') continue;
    const schema = details[type];
    if (schema === undefined) throw new Error(`no schema of ${type}`);
    const parsed = schema.strict().safeParse(body);
    expect(parsed.success ? 'valid' : z.prettifyError(parsed.error), type).toBe('valid');
    seen.add(type);
  }
  // A rollback that fails needs a broken sandbox, and a delay takes minutes (events.test.ts); everything else has happened.
  expect([...seen].sort()).toEqual(
    Object.keys(EVENT_DETAILS)
      .filter((name) => name !== 'rollback.failed' && name !== 'saga.compensation_delayed')
      .sort(),
  );
});
