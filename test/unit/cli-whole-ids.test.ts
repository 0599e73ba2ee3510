/** What other commands take (ids, references, resources, names, paths) is shown whole on any terminal, and all else whole in a pipe. */
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

/** Each of another letter, and as long as an id may be. */
const whole = (name: string): string => `${name}-${'0123456789'.repeat(6)}`.slice(0, 64);
const ids = {
  session: whole('session'),
  message: whole('message'),
  saga: whole('saga'),
  sandbox: whole('sandbox'),
  step: whole('step'),
  tool: whole('tool'),
  agent: whole('agent'),
  resource: whole('resource'),
  reference: whole('reference'),
  path: whole('path'),
};
const SENTENCE = `because ${'of many words '.repeat(20)}at the end`;
const at = '2026-01-02T10:00:00.000Z';

const repositories = [
  {
    path: ids.path,
    action: 'restored',
    written: 1,
    deleted: 0,
    paths: [{ path: `src/${ids.path}`, change: 'write' }],
  },
];
const planned = {
  status: 'PLANNED',
  requestId: 'r',
  checkpointId: 'cp-00000001-0badcafe',
  epoch: 1,
  repositories,
  discardedMessageIds: [ids.message],
  effects: [
    { sagaId: ids.saga, step: ids.step, tool: ids.tool, externalRef: ids.reference, reversible: false },
  ],
  warnings: [],
  trimAfterMessageId: null,
};

const timeline = {
  session: {
    sessionId: ids.session,
    status: 'active',
    epoch: 1,
    seq: 2,
    headSeq: 2,
    sandboxId: ids.sandbox,
    projectsRoot: '/home/me/work',
  },
  messages: [{ messageId: ids.message, checkpointId: 'cp-00000002-0badcafe', discarded: false }],
  checkpoints: [
    {
      checkpointId: 'cp-00000002-0badcafe',
      seq: 2,
      parentSeq: null,
      epoch: 1,
      messageId: ids.message,
      toolExecutionId: 'call',
      reason: 'manual',
      complete: true,
      repositories: [],
      failures: [],
      skipped: [],
      sandboxId: ids.sandbox,
      detached: false,
      createdAt: at,
      onHeadPath: true,
    },
  ],
};

const effect = { step: ids.step, tool: ids.tool, externalRef: ids.reference };
const failed = { ...effect, reason: SENTENCE, error: { name: 'Http503', message: SENTENCE } };
const observation = {
  sagaId: ids.saga,
  status: 'COMPENSATION_FAILED',
  requestedBy: ids.agent,
  createdAt: at,
  committed: [],
  compensated: [],
  notCompensated: [{ ...failed, externalRef: null, idempotencyKey: ids.reference, sagaId: ids.saga }],
  advice: SENTENCE,
  children: [{ path: 'a', sagaId: ids.saga, status: 'COMPLETED', definition: `${ids.tool}@1.0.0` }],
};

const entry = {
  saga_id: ids.saga,
  seq: 1,
  step: ids.step,
  tool: ids.tool,
  direction: 'forward',
  status: 'rejected',
  external_ref: ids.reference,
  actor: ids.agent,
  error: SENTENCE,
  at,
};
const ledgerEffect = {
  saga_id: ids.saga,
  step: ids.step,
  tool: ids.tool,
  agent: ids.agent,
  resource_key: ids.resource,
  external_ref: ids.reference,
  amount: null,
  currency: null,
  amount_problem: null,
  status: 'stands',
  committed_at: at,
  undone_at: null,
  undone_amount: null,
  undone_currency: null,
  undone_problem: null,
};
const listed = { sagas: [{ sagaId: ids.saga, status: 'PAUSED' }] };
const conflict = { repository: ids.path, path: `src/${ids.path}`, kind: 'content', message: SENTENCE };
const NOTHING = { sagas: [], entries: [], effects: [] };

const CASES: [
  argv: string[],
  answers: object,
  shown: string[],
  /** Cut on a terminal only. */ sentence?: string,
][] = [
  [
    ['log', '--session', ids.session],
    { 'walkback-timeline': timeline },
    [ids.session, ids.message, ids.sandbox],
  ],
  [
    ['rollback', '--session', ids.session, '--to', ids.message, '--dry-run'],
    { 'walkback-timeline': timeline, 'walkback-rollback': planned },
    [ids.path, `src/${ids.path}`, ids.message, ids.saga, ids.step, ids.tool, ids.reference],
  ],
  [
    ['merge', 'fork', '--into', ids.session, '--dry-run'],
    { 'walkback-merge': { ...planned, conflicts: [conflict] } },
    [`${ids.path}/src/${ids.path}`],
    SENTENCE,
  ],
  [
    ['saga', 'show', ids.saga],
    { 'walkback-describe-saga': observation },
    [ids.saga, ids.step, `${ids.tool}@1.0.0`, ids.reference, ids.agent],
  ],
  [
    ['saga', 'retry', '--all', '--dry-run'],
    {
      'walkback-list-sagas': ({ status }: { status: string }) => (status === 'PAUSED' ? listed : NOTHING),
      'walkback-describe-saga': { ...observation, notCompensated: [failed] },
    },
    [ids.saga, ids.step, ids.tool, ids.reference],
    SENTENCE,
  ],
  [
    ['ledger', 'query', '--saga', ids.saga],
    { 'walkback-query-ledger': { entries: [entry] } },
    [ids.saga, ids.step, ids.reference, ids.agent],
    SENTENCE,
  ],
  [
    ['ledger', 'query', '--effects', '--saga', ids.saga],
    { 'walkback-query-ledger': { effects: [ledgerEffect] } },
    [ids.saga, ids.step, ids.tool, ids.agent, ids.resource, ids.reference],
  ],
  [
    ['saga', 'submit', ids.saga, ids.step, '--tool', 'pay'],
    {
      'walkback-submit-step': {
        step: { stepId: ids.step, status: 'committed', externalRef: ids.reference, result: SENTENCE },
        warnings: [],
      },
    },
    [ids.step, ids.reference],
    SENTENCE,
  ],
];

describe.each(CASES)('%j', (argv, answers, shown, sentence) => {
  test.each([40, 80, 200, Infinity])('in %f columns', async (columns) => {
    const env = { USER: 'ada' };
    const { stdout, failure } = await runCommand(argv, { answers, env, columns });
    expect(failure).toBeUndefined();
    for (const id of shown) expect(stdout).toContain(id);
    if (columns === Infinity) expect(stdout).not.toContain('…');
    if (sentence !== undefined) expect(stdout.includes(sentence)).toBe(columns === Infinity);
  });
});
