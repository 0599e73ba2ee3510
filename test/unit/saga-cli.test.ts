import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../cli/app.ts';
import { sagaQuestion } from '../../cli/saga-question.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import { toRow } from '../../core/saga/ledger/ledger-row.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import { runCommand } from '../support/recording-app.ts';

const moved = { sagaId: 'r1', status: 'COMPENSATING' };
const env = { USER: 'ada' };

const notAsked = () => Promise.reject(new Error('not asked'));
const NO_SANDBOXES = {
  createOver: notAsked,
  create: notAsked,
  run: notAsked,
  places: notAsked,
  kill: notAsked,
};

const { entries, tip } = chain(
  'r1',
  { seq: 0, tip: GENESIS_HASH },
  [
    { direction: 'saga', status: 'started', planHash: 'p', inputHash: 'i', stepCount: 0, requestHash: 'r' },
    { direction: 'saga', status: 'completed' },
  ],
  { at: '2026-01-02T10:00:00.000Z', actor: 'engine' },
);
const rows = entries.map(toRow);
const at = '2026-01-02T10:00:00.000Z';
const head: SagaHead = {
  sagaId: 'r1',
  version: 1,
  ...tip,
  state: fold(entries),
  requestHash: 'r',
  planHash: 'p',
  inputHash: 'i',
  requestedBy: 'engine',
  historyEvents: 0,
  createdAt: at,
  updatedAt: at,
  statusSince: at,
};

const SEEN = {
  sagaId: 'r1',
  status: 'COMPENSATION_FAILED',
  committed: [{ step: 'booking', tool: 'post', externalRef: 'je-1' }],
  compensated: [{ step: 'refund', tool: 'issue_refund', externalRef: 're_1' }],
  notCompensated: [
    {
      step: 'booking',
      tool: 'post',
      externalRef: 'je-1',
      reason: `compensation failed: ${'long words '.repeat(20)}`,
    },
  ],
  failed: { step: 'confirm', tool: 'mail', error: { name: 'Refused', message: 'no' }, outcome: 'rejected' },
  advice: 'Report the references.',
};

describe('walkback saga', () => {
  test.each([
    [
      ['cancel', 'r1', '--reason', 'why'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'cancel', by: 'ada', evidence: 'why' },
    ],
    [['retry', 'r1'], 'walkback-operate-saga', { sagaId: 'r1', action: 'retry', by: 'ada' }],
    [
      ['resolve', 'r1', 'booking', '--evidence', 'JE 7'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'resolve', stepId: 'booking', by: 'ada', evidence: 'JE 7' },
    ],
    [
      ['skip', 'r1', 'booking', '--reason', 'small'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'skip', stepId: 'booking', by: 'ada', evidence: 'small' },
    ],
    [
      ['undo', 'r1', '--yes', '--accept-residue', '--reason', 'wrong order'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'undo', by: 'ada', evidence: 'wrong order', acceptResidue: true },
    ],
    [
      ['start', 'refund@2', '--id', 'r1', '--input', '{"a":1}'],
      'walkback-start-saga',
      { sagaId: 'r1', definition: { name: 'refund', version: '2' }, input: { a: 1 }, requestedBy: 'ada' },
    ],
    [
      ['start', '--interactive', '--idle', '600', '--on-idle', 'ask', '--allow', 'mail', '--id', 'r1'],
      'walkback-start-saga',
      {
        sagaId: 'r1',
        interactive: { onIdle: 'ask', idleTimeoutSeconds: 600, allowIrreversible: ['mail'] },
        input: {},
        requestedBy: 'ada',
      },
    ],
    [
      ['park', 'r1', '--summary', 'half of it', '--session', 's-1', '--request', 'park-1'],
      'walkback-park-saga',
      { sagaId: 'r1', summary: 'half of it', sessionId: 's-1', requestId: 'park-1' },
    ],
    [
      ['park', '--summary', 'half of it', '--session', 's-1'],
      'walkback-park-saga',
      { summary: 'half of it', sessionId: 's-1', requestId: expect.stringMatching(/^park-/) as string },
    ],
    [['resume', 'r1'], 'walkback-operate-saga', { sagaId: 'r1', action: 'resume', by: 'ada' }],
    [
      ['close', 'r1', '--outcome', 'unwind', '--reason', 'why'],
      'walkback-close-saga',
      { sagaId: 'r1', outcome: 'unwind', reason: 'why' },
    ],
  ])('%j', async (argv, name, input) => {
    const answers = { [name]: { ...moved, sagas: [moved], warnings: [] } };
    const { calls, failure } = await runCommand(['saga', ...argv], { answers, env });
    expect(failure).toBeUndefined();
    expect(calls).toEqual([{ name, input }]);
  });

  test.each([
    ['--interactive', [], 'walkback saga submit r1 STEP --tool TOOL'],
    ['--plan', ['{"steps":[]}'], 'walkback saga watch r1'],
    ['refund', [], 'walkback saga watch r1'],
  ])('start %s says what comes next', async (what, more, next) => {
    const answers = { 'walkback-start-saga': { ...moved, warnings: [] } };
    const { stderr } = await runCommand(['saga', 'start', what, ...more, '--id', 'r1'], { answers, env });
    expect(stderr).toContain(`next  ${next}`);
  });

  test('submit sends one step and shows what became of it', async () => {
    const step = { stepId: 'one', status: 'rejected', error: { name: 'Refused', message: 'no such order' } };
    const warnings = ['1 irreversible step stands: if this saga is unwound, that stays.'];
    const { calls, stdout, stderr, failure } = await runCommand(
      ['saga', 'submit', 'r1', 'one', '--tool', 'pay@2', '--arguments', '{"amount":4}', '--message', 'm-1'],
      { answers: { 'walkback-submit-step': { step, warnings } }, env },
    );
    expect(failure).toMatchObject({ name: 'Refused', exitCode: 1 });
    const input = { sagaId: 'r1', stepId: 'one', tool: 'pay', version: '2', arguments: { amount: 4 } };
    expect(calls).toEqual([
      {
        name: 'walkback-submit-step',
        input: { ...input, waitSeconds: 60, observe: false, messageId: 'm-1' },
      },
    ]);
    expect(stdout).toContain('rejected, nothing happened');
    expect(stdout).toContain('Refused: no such order');
    expect(stderr).toContain('1 irreversible step stands');
  });

  test('tool call is one call under the id of its request', async () => {
    const answer = {
      sagaId: 'call-1',
      step: { stepId: 'call', status: 'committed', result: 1 },
      warnings: [],
    };
    const { calls, stdout } = await runCommand(
      ['tool', 'call', 'pay@2', '--request', 'r', '--arguments', '{"amount":4}', '--allow-irreversible'],
      { answers: { 'walkback-call-tool': answer }, env },
    );
    const input = { requestId: 'r', tool: 'pay', version: '2', arguments: { amount: 4 }, waitSeconds: 60 };
    expect(calls).toEqual([
      { name: 'walkback-call-tool', input: { ...input, requestedBy: 'ada', allowIrreversible: true } },
    ]);
    expect(stdout).toContain('done');
  });

  test.each([
    ['submit', ['saga', 'submit', 'r1', 'one', '--tool', 'pay'], 'walkback-submit-step'],
    ['tool call', ['tool', 'call', 'pay', '--request', 'r'], 'walkback-call-tool'],
  ])('%s gives the call and what takes it back deadlines of their own', async (_, argv, name) => {
    const answers = { [name]: { sagaId: null, step: { stepId: 'one', status: 'committed' }, warnings: [] } };
    const own = ['--timeout', '120', '--undo-timeout', '90'];
    const { calls } = await runCommand([...argv, ...own], { answers, env });
    expect(calls[0]?.input).toMatchObject({ timeoutSeconds: 120, compensation: { timeoutSeconds: 90 } });
    const { failure } = await runCommand([...argv, '--timeout', '901'], { answers, env });
    expect(failure).toMatchObject({ exitCode: 2 });
  });

  test('submit refuses arguments that are no object, before it calls anything', async () => {
    const argv = ['saga', 'submit', 'r1', 'one', '--tool', 'pay', '--arguments', '[1]'];
    const { calls, failure } = await runCommand(argv, { env });
    expect(failure).toMatchObject({ name: 'InvalidInput' });
    expect(calls).toEqual([]);
  });

  test('undo shows what is taken back and what stands, and asks before it does anything', async () => {
    const plan = {
      undo: [{ step: 'book', tool: 'post', externalRef: 'je-1', partly: true }],
      stands: [{ step: 'confirm', tool: 'mail', externalRef: null, reason: 'irreversible' }],
    };
    const answers = {
      'walkback-operate-saga': { sagaId: 'r1', status: 'COMPLETED', plan },
      'walkback-describe-saga': { sagaId: 'r1', status: 'COMPLETED' },
    };
    const planned = await runCommand(['saga', 'undo', 'r1', '--dry-run'], { answers, env });
    expect(planned.calls.map(({ input }) => input)).toEqual([
      { sagaId: 'r1', action: 'undo', by: 'ada', dryRun: true },
    ]);
    expect(planned.stdout).toContain('↩ book post  je-1  a part only');
    expect(planned.stdout).toContain('✖ confirm mail  no reference  irreversible');
    const asked = await runCommand(['saga', 'undo', 'r1'], { answers, env, typed: 'no\n' });
    expect(asked.failure).toMatchObject({ name: 'NotConfirmed' });
    expect(asked.calls.filter(({ name }) => name === 'walkback-operate-saga')).toHaveLength(1);
  });

  test.each([
    ['undo', 'walkback-operate-saga', ['saga', 'undo', 'r1']],
    ['rewind', 'walkback-rewind', ['rewind', '--saga', 'r1', '--to', 'refund', '--request', 'rw']],
  ])('%s: who lets something stand accepts what the plan named', async (_, name, argv) => {
    const plan = {
      undo: [],
      stands: [{ step: 'confirm', tool: 'mail', externalRef: null, reason: 'irreversible' }],
    };
    const told = {
      sagaId: 'r1',
      requestId: 'rw',
      status: 'PLANNED',
      plan,
      sagas: [{ sagaId: 'r1', status: 'COMPLETED', epoch: 0, after: 'refund', plan }],
      residue: 'now',
    };
    const answers = { [name]: told, 'walkback-describe-saga': { sagaId: 'r1' } };
    const acts = async (more: string[], typed?: string) => {
      const { calls, stdout } = await runCommand([...argv, ...more], {
        answers,
        env,
        ...(typed === undefined ? {} : { typed }),
      });
      return { stdout, input: calls.findLast((call) => call.name === name)?.input };
    };
    const accepting = ['--accept-residue', '--reason', 'it may stay'];
    expect((await acts(accepting, 'yes\n')).input).toMatchObject({
      acceptResidue: true,
      residue: 'now',
      [name === 'walkback-rewind' ? 'reason' : 'evidence']: 'it may stay',
    });
    const named = await acts([...accepting, '--residue', 'before', '--yes']);
    expect(named.input).toMatchObject({ residue: 'before' });
    expect((await acts([...accepting, '--yes'])).input).not.toHaveProperty('residue');
    expect((await acts(['--dry-run'])).stdout).toContain('--accept-residue --residue now --reason "..."');
    for (const more of [['--yes'], ['--yes', '--reason', ' ']]) {
      const { calls, failure } = await runCommand([...argv, '--accept-residue', ...more], {
        answers,
        env,
      });
      expect(failure).toMatchObject({ name: 'InvalidInput', hint: expect.stringContaining('--reason') });
      expect(calls).toEqual([]);
    }
  });

  test('the question names the session and the directory whose work it is', async () => {
    const ask = (session: object | undefined, timeline: unknown, mounts: Record<string, string> = {}) =>
      sagaQuestion(
        {
          invoke: (async (name: string) => {
            if (name === 'walkback-describe-saga') return { sagaId: 'r1', session };
            if (timeline instanceof Error) throw timeline;
            return timeline;
          }) as Run['invoke'],
          sandboxes: {
            ...NO_SANDBOXES,
            places: async () => ({ rootfs: '/data/wb1/', mounts }),
          },
        },
        'Undo',
        'r1',
      );
    const timeline = { session: { sandboxId: 'wb1', projectsRoot: '/home/me/shop' } };
    const mounts = { '/home/me/shop': '/home/me/shop' };
    expect(await ask(undefined, timeline)).toBe('Undo saga r1?');
    expect(await ask({ sessionId: 's1' }, timeline, mounts)).toBe(
      'Undo saga r1 of session s1 in /home/me/shop?',
    );
    expect(await ask({ sessionId: 's1' }, new Error('expired'))).toBe('Undo saga r1 of session s1?');
  });

  const rewound = (status: string, plan: unknown = { undo: [], stands: [] }) => ({
    requestId: 'rw',
    status,
    sagas: [{ sagaId: 'r1', status: 'COMPENSATING', epoch: 0, after: 'refund', plan }],
  });

  test('rewind shows what goes back, asks, then says how far it is', async () => {
    const plan = { undo: [{ step: 'book', tool: 'post', externalRef: 'je-1' }], stands: [] };
    const told = (input: { dryRun?: boolean }) =>
      input.dryRun === true ? rewound('PLANNED', plan) : rewound('REWOUND');
    const argv = ['rewind', '--saga', 'r1', '--to', 'refund', '--guidance', 'Ask first.', '--request', 'rw'];
    const { calls, stdout, stderr } = await runCommand(argv, {
      answers: { 'walkback-rewind': told, 'walkback-describe-saga': { sagaId: 'r1' } },
      env,
      typed: 'yes\n',
    });
    const input = {
      sagaId: 'r1',
      to: { stepId: 'refund' },
      scope: 'all',
      guidance: 'Ask first.',
      requestId: 'rw',
      by: 'ada',
    };
    expect(calls.map((call) => call.input)).toEqual([
      { ...input, dryRun: true },
      { sagaId: 'r1', subject: true },
      { ...input, planned: { epoch: 0, after: 'refund' }, waitSeconds: 20 },
    ]);
    expect(stderr).toContain('↩ book post  je-1');
    expect(stdout).toContain('Rewound to after step refund');
  });

  test('rewind needs one target, and says what to do when it stopped', async () => {
    const both = ['rewind', '--saga', 'r1', '--to', 'refund', '--steps', '2', '--yes'];
    expect((await runCommand(both, { env })).failure).toMatchObject({ name: 'InvalidInput' });
    const stopped = await runCommand(['rewind', '--saga', 'r1', '--steps', '2', '--yes'], {
      answers: { 'walkback-rewind': rewound('STOPPED') },
      env,
    });
    expect(stopped.failure?.hint).toContain('walkback saga retry r1');
    const wait = ['rewind', '--saga', 'r1', '--steps', '2', '--plan', '{"steps": []}', '--timeout', '0'];
    const undoing = await runCommand([...wait, '--request', 'rw', '--yes'], {
      answers: { 'walkback-rewind': rewound('UNDOING') },
      env,
    });
    expect(undoing.failure?.hint).toContain(
      `walkback rewind --saga r1 --steps 2 --plan '{"steps": []}' --request rw --by ada --yes goes on`,
    );
  });

  test.each([
    ['a saga and a session', ['--saga', 'r1', '--session', 's', '--steps', '1']],
    ['a saga and the epoch of a session', ['--saga', 'r1', '--steps', '1', '--epoch', '2']],
    ['a session and a number of steps', ['--session', 's', '--steps', '1']],
    ['a session and other steps', ['--session', 's', '--to', 'm', '--plan', '{"steps":[]}']],
    ['no place to go to', ['--session', 's']],
  ])('rewind refuses %s, and asks nobody', async (_, words) => {
    const { failure, calls } = await runCommand(['rewind', ...words, '--yes'], { env });
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(calls).toEqual([]);
  });

  test('rewind asks nobody about a saga that would be refused, or whose rewind is over', async () => {
    const stands = [{ step: 'mail', tool: 'mail', externalRef: null, reason: 'irreversible' }];
    const ask = (told: unknown) =>
      runCommand(['rewind', '--saga', 'r1', '--steps', '1'], {
        answers: { 'walkback-rewind': () => told },
        env,
      });
    const refused = await ask(rewound('PLANNED', { undo: [], stands }));
    expect(refused.failure).toMatchObject({ name: 'PointOfNoReturn' });
    expect(refused.calls).toHaveLength(1);
    const cancelled = await ask(rewound('CANCELLED'));
    expect(cancelled.failure).toMatchObject({ name: 'Cancelled' });
    expect(cancelled.calls).toHaveLength(1);
  });

  const awaiting = {
    kind: 'approval',
    step: 'refund',
    tool: 'issue_refund',
    version: '1.0.0',
    arguments: { amount: 500_000, note: 'x'.repeat(5000) },
    argumentsHash: 'h',
    until: '2026-01-02T10:00:00.000Z',
    prompt: 'Refund $5?',
    promptBy: 'agent',
  };
  const WAITING = { ...SEEN, status: 'AWAITING', notCompensated: [], awaiting };

  test.each([
    [['approve', 'r1', 'refund', '--note', 'ok'], { decision: 'approve', by: 'ada', note: 'ok' }],
    [['reject', 'r1', 'refund', '--by', 'bob'], { decision: 'reject', by: 'bob' }],
  ])('%j, and shows what that was about', async (argv, input) => {
    const answers = { 'walkback-describe-saga': WAITING, 'walkback-answer': moved };
    const { calls, failure, stdout } = await runCommand(['saga', ...argv], { answers, env });
    expect(failure).toBeUndefined();
    expect(calls).toEqual([
      { name: 'walkback-describe-saga', input: { sagaId: 'r1' } },
      { name: 'walkback-answer', input: { sagaId: 'r1', stepId: 'refund', ...input } },
    ]);
    expect(stdout).toContain('amount: 500000');
  });

  test('a second approval says who gave the first, and when', async () => {
    const answered = { decision: 'approve', by: 'bob', at: '2026-01-01T00:00:00.000Z' };
    const answers = {
      'walkback-describe-saga': { ...WAITING, awaiting: null },
      'walkback-answer': { ...moved, answered },
    };
    const { stdout } = await runCommand(['saga', 'approve', 'r1', 'refund'], { answers, env });
    expect(stdout).toContain('approved before, by bob at 2026-01-01T00:00:00.000Z');
  });

  test('show says what is to be approved and who wrote the question, within the width', async () => {
    const answers = { 'walkback-describe-saga': WAITING };
    const { stdout } = await runCommand(['saga', 'show', 'r1'], { answers, env });
    expect(stdout).toContain('issue_refund@1.0.0');
    expect(stdout).toContain('amount: 500000');
    expect(stdout).toContain('the agent wrote: Refund $5?');
    expect(stdout).toContain('cut; saga show --json has all of it');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('resolve and skip need words, and somebody who says them', async () => {
    expect((await runCommand(['saga', 'resolve', 'r1', 'booking'], { env })).failure).toMatchObject({
      exitCode: 2,
    });
    expect((await runCommand(['saga', 'retry', 'r1'], {})).failure).toMatchObject({ name: 'InvalidInput' });
  });

  test('show lists what remains within the width, and watch fails on it', async () => {
    const answers = { 'walkback-describe-saga': SEEN };
    const shown = await runCommand(['saga', 'show', 'r1'], { answers, env });
    expect(shown.failure).toBeUndefined();
    expect(shown.stdout).toContain('✖ booking post  je-1');
    expect(shown.stdout).toContain('↩ refund issue_refund  re_1');
    for (const line of shown.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const watched = await runCommand(['saga', 'watch', 'r1'], { answers, env });
    expect(watched.failure).toMatchObject({ name: 'CompensationFailed', exitCode: 1 });
    expect(watched.stdout).toBe(shown.stdout);
  });
});

describe('walkback ledger', () => {
  test('verify accepts a whole chain, and names the entry that was changed or cut off', async () => {
    const answer = (some: typeof rows) => ({
      'walkback-query-ledger': (input: { anchorsOf?: string }) =>
        input.anchorsOf === undefined
          ? { entries: some, tip: { seq: tip.seq, hash: tip.tip }, evidence: { head, findings: [] } }
          : { anchors: { day: input.anchorsOf, anchors: [], firstDay: '2026-01-03', publicKey: '' } },
    });
    expect((await runCommand(['ledger', 'verify', 'r1'], { answers: answer(rows), env })).stdout).toContain(
      '✔ 2 entries',
    );
    const changed = rows.map((row) => (row.seq === 1 ? { ...row, actor: 'mallory' } : row));
    expect(
      (await runCommand(['ledger', 'verify', 'r1'], { answers: answer(changed), env })).failure,
    ).toMatchObject({
      name: 'LedgerBroken',
      message: expect.stringContaining('entry 1'),
    });
    expect(
      (await runCommand(['ledger', 'verify', 'r1'], { answers: answer(rows.slice(0, 1)), env })).failure,
    ).toMatchObject({ name: 'LedgerBroken' });
  });

  test('verify reads no day before the first that was anchored, however long ago an edited entry says it was', async () => {
    const days = (calls: { input: unknown }[]) =>
      calls.flatMap(({ input }) => (input as { anchorsOf?: string }).anchorsOf ?? []);
    const long = rows.map((row) => (row.seq === 1 ? { ...row, at: `0${row.at.slice(1)}` } : row));
    for (const [firstDay, read] of [
      ['2026-01-01', ['2026-01-02', '2026-01-01']],
      [null, ['2026-01-02', '2026-01-01']],
    ] as const) {
      const answers = {
        'walkback-query-ledger': (input: { anchorsOf?: string }) =>
          input.anchorsOf === undefined
            ? { entries: long, tip: { seq: tip.seq, hash: tip.tip }, evidence: { head, findings: [] } }
            : { anchors: { day: input.anchorsOf, anchors: [], firstDay, publicKey: '' } },
      };
      const { failure, calls } = await runCommand(['ledger', 'verify', 'r1'], { answers, env });
      expect(failure).toMatchObject({ name: 'LedgerBroken', message: expect.stringContaining('entry 1') });
      expect([...new Set(days(calls))]).toEqual(read);
    }
  });

  test('verify reads the days of the entries also on a machine whose clock is behind', async () => {
    const days: string[] = [];
    const answers = {
      'walkback-query-ledger': ({ anchorsOf }: { anchorsOf?: string }) => {
        if (anchorsOf === undefined)
          return { entries: rows, tip: { seq: tip.seq, hash: tip.tip }, evidence: { head, findings: [] } };
        days.push(anchorsOf);
        return { anchors: { day: anchorsOf, anchors: [], firstDay: '2026-01-01', publicKey: '' } };
      },
    };
    const now = () => new Date('2025-12-24T12:00:00Z');
    await runCommand(['ledger', 'verify', 'r1'], { answers, env, now });
    expect(days).toContain('2026-01-02');
  });

  test('query prints a table, JSON or CSV', async () => {
    const answers = { 'walkback-query-ledger': { entries: rows } };
    const table = await runCommand(['ledger', 'query', '--saga', 'r1'], { answers, env });
    expect(table.calls[0]?.input).toEqual({ sagaId: 'r1', limit: 200 });
    expect(table.stdout).toContain('saga completed');
    expect(table.stdout).not.toContain('LINK');
    const linked = { entries: rows.map((row) => ({ ...row, external_url: 'https://p.example/re_1' })) };
    const links = await runCommand(['ledger', 'query', '--saga', 'r1'], {
      answers: { 'walkback-query-ledger': linked },
      env,
    });
    expect(links.stdout).toMatch(/  LINK\n.*  https:\/\/p\.example\/re_1\n/);
    const csv = await runCommand(['ledger', 'query', '--day', '2026-01-02', '--csv'], { answers, env });
    expect(csv.stdout.split('\r\n')).toHaveLength(4);
    const json = await runCommand(['--json', 'ledger', 'query', '--ref', 're_1'], { answers, env });
    expect(JSON.parse(json.stdout)).toEqual({ entries: JSON.parse(JSON.stringify(rows)) });
  });

  test('query says that there are more rows and how to get them, and has the cursor with --json', async () => {
    /** Three rows, of which two fit; what is behind them is on an empty page and the one after it. */
    const paged =
      (behind: number) =>
      ({ view, limit, cursor }: { view?: string; limit: number; cursor?: string }) => {
        const name = view === 'effects' ? 'effects' : 'entries';
        if (cursor === 'empty') return { [name]: [], cursor: 'last' };
        if (cursor === 'last') return { [name]: rows.slice(0, behind) };
        return { [name]: rows.slice(0, limit), cursor: 'empty' };
      };
    for (const view of [[], ['--effects']]) {
      const ask = (words: string[], behind: number) =>
        runCommand([...words, 'ledger', 'query', ...view, '--day', '2026-01-02', '-n', '2', ...csv], {
          answers: { 'walkback-query-ledger': paged(behind) },
          env,
        });
      const csv = view.length === 0 ? ['--csv'] : [];
      const cut = await ask([], 1);
      expect(cut.stderr).toMatch(
        /the first 2 (entries|effects), and there are more: add --limit 20, or .* walkback ledger export FILE/,
      );
      expect(JSON.parse((await ask(['--json'], 1)).stdout)).toMatchObject({ cursor: 'empty' });
      expect((await ask([], 0)).stderr).not.toContain('there are more');
      expect(JSON.parse((await ask(['--json'], 0)).stdout)).not.toHaveProperty('cursor');
    }
  });

  test('query and export without a filter ask for the last seven days', async () => {
    const answers = { 'walkback-query-ledger': { entries: [] } };
    const { calls, failure } = await runCommand(['ledger', 'query'], { answers, env });
    expect(failure).toBeUndefined();
    expect(calls[0]?.input).toEqual({ limit: 200 });
  });

  test('query shows effects and adds up the totals of every page, as a table, JSON or CSV', async () => {
    const effect = {
      saga_id: 'r1',
      step_index: 0,
      epoch: 0,
      step: 'refund',
      tool: 'pay\u001b[2J',
      version: '1',
      agent: 'shop',
      resource_key: 'customer-7',
      external_ref: 're_1',
      status: 'undone',
      amount: '19.99',
      currency: 'EUR',
      amount_direction: 'out',
      amount_problem: null,
      committed_at: '2026-01-02T00:00:00.000Z',
      committed_seq: 3,
      undone_at: '2026-01-03T00:00:00.000Z',
      undone_seq: 5,
      undone_by: 'engine',
      undone_ref: null,
      undone_amount: '12.00',
      undone_currency: 'EUR',
      undone_problem: null,
      doubt: null,
      external_url: null,
      residue: null,
      failed_at: null,
      error: null,
      evidence: null,
    };
    const total = (key: string | null) => ({
      key,
      currency: 'EUR',
      effects: 1,
      undoneEffects: 0,
      byHandEffects: 0,
      in: { amount: '0.10', undone: '0', byHand: '0' },
      out: { amount: '0', undone: '0', byHand: '0' },
      neither: { amount: '0', undone: '0', byHand: '0' },
      net: '0.10',
    });
    const totals = (failedAt: string) => ({
      all: [total(null)],
      byTool: [total('pay')],
      byAgent: [total('shop')],
      byDay: [total('2026-01-02')],
      byStatus: [total('stands')],
      reconciliations: [{ sagaId: 'r1', failedAt, reconciledAt: failedAt, seconds: 7200 }],
      secondsToReconcile: 7200,
    });
    const answers = {
      'walkback-query-ledger': ({ view, cursor }: { view?: string; cursor?: string }) => {
        if (view === 'effects') return { effects: [effect] };
        const more = cursor === undefined ? { cursor: 'next' } : {};
        return { totals: totals(cursor === undefined ? 'a' : 'b'), ...more };
      },
    };
    const of = ['ledger', 'query', '--from', '2026-01-01', '--to', '2026-01-31'];
    const shown = await runCommand([...of, '--tool', 'pay'], { answers, env });
    expect(shown.calls[0]?.input).toEqual({
      from: '2026-01-01',
      to: '2026-01-31',
      tool: 'pay',
      view: 'effects',
      limit: 200,
    });
    const doubts = await runCommand([...of, '--doubt', '--status', 'undo_failed'], { answers, env });
    expect(doubts.calls[0]?.input).toMatchObject({ view: 'effects', doubt: true, status: 'undo_failed' });
    expect(shown.stdout).toMatch(/19\.99 EUR out +undone +2026-01-03 00:00:00 +12\.00 EUR/);
    expect(shown.stdout).not.toContain('\u001b[2J');
    expect(shown.stdout).not.toContain('in part');
    expect(shown.stdout).not.toContain('LINK');
    const linked = { effects: [{ ...effect, external_url: 'https://p.example/re_1' }, effect] };
    const links = await runCommand([...of, '--effects'], {
      answers: { 'walkback-query-ledger': linked },
      env,
    });
    expect(links.stdout).toMatch(/  LINK\n.*  https:\/\/p\.example\/re_1\n/);
    const parted = await runCommand([...of, '--effects'], {
      answers: { 'walkback-query-ledger': { effects: [{ ...effect, residue: 'the fee' }] } },
      env,
    });
    expect(parted.stdout).toMatch(/ undone in part /);
    expect(parted.stdout).toContain('1 effect was undone in part: what stays is in residue');
    const skipped = { ...effect, status: 'skipped', undone_amount: null, undone_currency: null };
    const left = await runCommand([...of, '--effects'], {
      answers: { 'walkback-query-ledger': { effects: [skipped] } },
      env,
    });
    expect(left.stdout).toMatch(/19\.99 EUR out +skipped +- +-/);
    const doubtful = {
      ...effect,
      status: 'undo_failed',
      amount: null,
      undone_amount: null,
      doubt: 'Lost: no answer',
    };
    const doubted = await runCommand([...of, '--effects'], {
      answers: { 'walkback-query-ledger': { effects: [doubtful] } },
      env,
    });
    expect(doubted.stdout).toMatch(/ undo failed, in doubt /);
    expect(doubted.stdout).toContain('1 effect is in doubt');
    const csv = await runCommand([...of, '--effects', '--csv'], { answers, env });
    expect(csv.stdout).toContain('"customer-7","re_1","undone",19.99,"EUR"');

    const summed = await runCommand([...of, '--totals'], { answers, env });
    expect(summed.calls.map(({ input }) => input)).toEqual([
      { from: '2026-01-01', to: '2026-01-31', view: 'totals' },
      { from: '2026-01-01', to: '2026-01-31', view: 'totals', cursor: 'next' },
    ]);
    expect(summed.stdout).toMatch(/shop +EUR +2 +0 +0\.20 +0 +0\.20\n/);
    expect(summed.stdout).toContain('2 failed compensations; 2 h on average to reconcile');
    const json = await runCommand(['--json', ...of, '--totals'], { answers, env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      totals: { all: [{ effects: 2, in: { amount: '0.20' } }] },
    });
    const totalsAsCsv = await runCommand([...of, '--totals', '--csv'], { answers, env });
    expect(totalsAsCsv.stdout).toContain('"tool","pay","EUR",2,0,0,0.20,0,0,0,0,0,0,0,0,0.20');
    for (const verb of [['query'], ['export', 'x.csv']]) {
      const both = await runCommand(['ledger', ...verb, '--totals', '--effects'], { answers, env });
      expect(both.calls).toEqual([]);
      expect(both.failure?.message).toContain('--effects');
    }
    const help = await runCommand(['ledger', 'query', '--help'], { answers, env });
    for (const option of ['--totals', '--effects', '--from <day>', '--agent <name>']) {
      expect(help.stdout).toContain(option);
    }
  });
});

describe('walkback catalog', () => {
  test('put says what was stored, and what will not work yet', async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-catalog-'));
    const file = join(directory.path, 'catalog.json');
    await writeFile(file, JSON.stringify({ tools: [], definitions: [] }));
    const versions = [{ kind: 'tool', name: 'pay', version: '1', stored: true }];
    const answers = { 'walkback-put-catalog': { versions, warnings: ['its function is not there yet'] } };
    const { stdout, stderr } = await runCommand(['catalog', 'put', file], { answers, env });
    expect(stdout).toBe('✔ tool pay@1\n');
    expect(stderr).toContain('! its function is not there yet');
  });

  const tool = (name: string, more: object) => ({
    name,
    version: '1',
    effect: 'read',
    description: '',
    functionName: 'fn',
    endpoint: null,
    compensator: null,
    probe: false,
    ...more,
  });

  test('review lists the tools past their date, and list shows the date of each', async () => {
    const answers = {
      'walkback-list-catalog': {
        tools: [
          tool('old', { reviewBy: '2026-01-01', daysToReview: -3 }),
          tool('new', { reviewBy: '2026-02-01', daysToReview: 30 }),
          tool('plain', {}),
        ],
        definitions: [],
      },
    };
    const of = async (...more: string[]) => (await runCommand(['catalog', ...more], { answers, env })).stdout;
    expect(await of('review')).toMatch(/old@1 .*2026-01-01/);
    expect(await of('review')).not.toMatch(/new@1|plain@1|TEMPLATE/);
    expect(await of('review', '--within', '60')).toContain('new@1');
    expect(await of('review', '--within', '60')).not.toContain('plain@1');
    expect(await of('list')).toMatch(/REVIEW BY[^]*old@1 .*2026-01-01[^]*plain@1 +read +- +no +- +fn/);
    const json = await runCommand(['--json', 'catalog', 'review'], { answers, env });
    expect(JSON.parse(json.stdout)).toMatchObject({ tools: [{ name: 'old' }], definitions: [] });
    const none = { 'walkback-list-catalog': { tools: [tool('plain', {})], definitions: [] } };
    expect((await runCommand(['catalog', 'review'], { answers: none, env })).stdout).toBe(
      'No tool and no template is due for review.\n',
    );
  });

  test('review lists the templates past their date', async () => {
    const definition = (name: string, daysToReview: number) => ({
      name,
      version: '1',
      description: '',
      steps: ['a'],
      reviewBy: '2026-01-01',
      daysToReview,
    });
    const answers = {
      'walkback-list-catalog': { tools: [], definitions: [definition('old', -3), definition('new', 30)] },
    };
    const { stdout } = await runCommand(['catalog', 'review'], { answers, env });
    expect(stdout).toContain('old@1');
    expect(stdout).not.toContain('new@1');
    expect((await runCommand(['catalog', 'review', '--within', '60'], { answers, env })).stdout).toContain(
      'new@1',
    );
  });
});
