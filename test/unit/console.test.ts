/** The console in process: who gets in, what text becomes, and that a page does what it showed. */
import { describe, expect, test } from 'vitest';
import { failurePage } from '../../console/pages/outcomes.ts';
import { ERRORS } from '../../contract/errors.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { formatSpan } from '../../present/text.ts';
import { made, NASTY, NO_SAGA, ORIGIN, session, tokenIn } from '../support/console-in-process.ts';

const rollback = (more: object = {}) => ({
  status: 'PLANNED' as const,
  checkpointId: 'cp-00000001-0123abcd',
  epoch: 1,
  undoCheckpointId: null,
  repositories: [
    {
      path: NASTY,
      written: 1,
      deleted: 0,
      action: 'restored' as const,
      paths: [{ path: NASTY, change: 'write' as const }],
    },
  ],
  discardedMessageIds: [NASTY],
  trimAfterMessageId: null,
  warnings: [NASTY],
  ...more,
});

/** As the function has it: what was done under a request is answered to it again, also as its plan. */
const keeping = (
  apply: () => object | Promise<object>,
  plan: (requestId: string) => object = () => rollback(),
) => {
  const done = new Map<string, object>();
  return async ({ requestId, dryRun }: { requestId: string; dryRun?: boolean }) => {
    const before = done.get(requestId);
    if (before !== undefined) return before;
    if (dryRun === true) return plan(requestId);
    const applied = await apply();
    done.set(requestId, applied);
    return applied;
  };
};

const timeline = (more: object = {}) => ({
  session: { ...session('s'), ...more },
  checkpoints: [],
  messages: [],
});

/** As the page of a plan sends it. */
const formOf = (plan: string) => ({
  form_token: tokenIn(plan),
  digest: digestIn(plan),
  message: 'm',
  checkpoint: checkpointIn(plan),
  request: 'r-1',
});

const checkpointIn = (text: string): string => /name="checkpoint" value="([^"]+)"/.exec(text)?.[1] ?? '';
const digestIn = (text: string): string => /name="digest" value="([^"]+)"/.exec(text)?.[1] ?? '';

describe('a method that an address does not take', () => {
  const GET = 'GET, HEAD';
  test.each([
    ['/', 'POST', GET],
    ['/style.css', 'DELETE', GET],
    ['/enter', 'POST', GET],
    ['/sessions/s', 'PUT', GET],
    ['/sessions/s/plan', 'POST', GET],
    ['/sessions/s/compare', 'POST', GET],
    ['/sessions/s/revert', 'GET', 'POST'],
    ['/sessions/s/rollback', 'GET', 'POST'],
    ['/queue/answer', 'HEAD', 'POST'],
    ['/work/w', 'POST', GET],
    ['/ledger.csv', 'OPTIONS', GET],
  ])('%s, %s: it takes %s', async (path, method, takes) => {
    const { fetchPage, enter, calls } = made({});
    const { cookie } = await enter();
    const answer = await fetchPage(path, { method, headers: { cookie } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, takes]);
    expect(calls).toEqual([]);
  });

  test('an address that is not there is no question of methods', async () => {
    const { fetchPage, enter } = made({});
    const { cookie } = await enter();
    const answer = await fetchPage('/nowhere', { method: 'POST', headers: { cookie } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
  });
});

describe('who gets in', () => {
  test('the link works once, and gives a cookie that only this site and no script has', async () => {
    const { fetchPage } = made({});
    const first = await fetchPage('/enter?token=the-link');
    expect(first.status).toBe(302);
    expect(first.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect((await fetchPage('/enter?token=the-link')).status).toBe(401);
  });

  test('the used link leads whoever came in by it to the pages, and nobody else', async () => {
    const { fetchPage, enter } = made({});
    const { cookie } = await enter();
    const again = await fetchPage('/enter?token=the-link', { headers: { cookie } });
    expect([again.status, again.headers.get('location')]).toEqual([302, '/']);
    expect(again.headers.get('set-cookie')).toBeNull();
    const guess = { cookie: 'walkback_console_4500=guess' };
    expect((await fetchPage('/enter?token=the-link', { headers: guess })).status).toBe(401);
  });

  test.each(['/enter', '/enter?token=', '/enter?token=guess'])('%s is refused', async (path) => {
    const { fetchPage } = made({});
    expect((await fetchPage(path)).status).toBe(401);
    expect((await fetchPage('/enter?token=the-link')).status).toBe(302);
  });

  test.each(['/', '/sessions/s', '/queue', '/sagas', '/ledger', '/ledger.csv', '/catalog', '/nowhere'])(
    '%s without the cookie asks nobody',
    async (path) => {
      const { fetchPage, calls } = made({});
      expect((await fetchPage(path)).status).toBe(401);
      expect((await fetchPage(path, { headers: { cookie: 'walkback_console_4500=guess' } })).status).toBe(
        401,
      );
      expect(calls).toEqual([]);
    },
  );

  test.each([
    { host: 'rebound.example:4500' } as Record<string, string>,
    { host: '127.0.0.1:4501' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:4501' },
  ])('%j is refused, also with the cookie', async (headers) => {
    const { fetchPage, enter, calls } = made({ 'list-catalog': () => ({ tools: [], definitions: [] }) });
    const { cookie } = await enter();
    expect((await fetchPage('/catalog', { headers: { cookie, ...headers } })).status).toBe(403);
    expect(calls).toEqual([]);
    expect((await fetchPage('/catalog', { headers: { cookie, origin: ORIGIN } })).status).toBe(200);
  });

  test('a form without the token of this console does nothing', async () => {
    const { fetchPage, enter, calls } = made({});
    const { cookie } = await enter();
    for (const form_token of ['', 'guess']) {
      const sent = { headers: { cookie, origin: ORIGIN }, form: { form_token, saga: 's', step: 't' } };
      for (const path of ['/queue/answer', '/queue/operate', '/sessions/s/rollback']) {
        expect((await fetchPage(path, sent)).status).toBe(403);
      }
    }
    expect(calls).toEqual([]);
  });

  test('every answer forbids inline script, frames and foreign loads, and is not kept', async () => {
    const { fetchPage, enter } = made({ 'list-catalog': () => ({ tools: [], definitions: [] }) });
    const { cookie } = await enter();
    const { headers } = await fetchPage('/catalog', { headers: { cookie } });
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    // With `no-referrer` a browser sends our own forms with the origin `null`.
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    const sent: Record<string, string>[] = [{}, { cookie }, { cookie, origin: 'https://evil.example' }];
    for (const one of sent) {
      for (const path of ['/catalog', '/nowhere', '/enter?token=guess', '/work/guess']) {
        expect((await fetchPage(path, { headers: one })).headers.get('cache-control'), path).toBe('no-store');
      }
    }
  });
});

test('the catalog says which tools and templates are overdue for review', async () => {
  const one = {
    version: '1',
    effect: 'read',
    description: '',
    functionName: 'fn',
    endpoint: null,
    probe: false,
  };
  const [past, coming] = [
    { reviewBy: '2026-01-01', daysToReview: -1 },
    { reviewBy: '2026-03-01', daysToReview: 0 },
  ];
  const { fetchPage, enter } = made({
    'list-catalog': () => ({
      tools: [
        { ...one, name: 'late_tool', compensator: null, ...past },
        { ...one, name: 'good_tool', compensator: null, ...coming },
        { ...one, name: 'plain_tool', compensator: null },
      ],
      definitions: [
        { name: 'late', version: '1', description: '', steps: [], ...past },
        { name: 'good', version: '1', description: '', steps: [], ...coming },
      ],
    }),
  });
  const { cookie } = await enter();
  const page = await (await fetchPage('/catalog', { headers: { cookie } })).text();
  const rows = page.split('<tr').filter((row) => /(tool|late|good)/.test(row));
  const rowOf = (name: string) => rows.find((row) => row.includes(`>${name}<`)) ?? '';
  for (const name of ['late_tool', 'late']) expect(rowOf(name), name).toMatch(/2026-01-01.*overdue/s);
  for (const name of ['good_tool', 'good']) {
    expect(rowOf(name), name).toContain('2026-03-01');
    expect(rowOf(name), name).not.toContain('overdue');
  }
  expect(rowOf('plain_tool')).toContain('plain_tool');
  expect(rowOf('plain_tool')).not.toContain('overdue');
});

describe('text from outside', () => {
  test('is text on every page, and cannot turn its direction', async () => {
    const { fetchPage, enter } = made({
      'list-sessions': () => ({ sessions: [session(NASTY)] }),
      rollback: () => rollback(),
      'list-sagas': () => ({
        sagas: [
          {
            sagaId: NASTY,
            status: 'COMPLETED',
            definition: NASTY,
            started: 1,
            steps: 1,
            failure: NASTY,
            requestedBy: NASTY,
            createdAt: NASTY,
            updatedAt: NASTY,
          },
        ],
      }),
    });
    const { cookie } = await enter();
    for (const path of ['/', '/sessions/s/plan?message=m', '/sagas']) {
      const text = await (await fetchPage(path, { headers: { cookie } })).text();
      expect(text, path).not.toContain('<img');
      expect(text, path).not.toContain('\u202e');
      expect(text, path).not.toContain('\u0007');
      expect(text, path).toContain('&lt;img src=x onerror=alert(1)&gt;');
    }
  });

  test('in an address stays in its place', async () => {
    const { fetchPage, enter } = made({
      'list-sessions': () => ({ sessions: [session('../queue?x="y')] }),
      ...NO_SAGA,
    });
    const { cookie } = await enter();
    const text = await (await fetchPage('/', { headers: { cookie } })).text();
    expect(text).toContain('href="/sessions/..%2Fqueue%3Fx%3D%22y"');
  });
});

describe('a rollback', () => {
  test('does exactly what was shown, under one request', async () => {
    const { fetchPage, enter, calls } = made({
      rollback: keeping(() => rollback({ status: 'APPLIED', undoCheckpointId: 'cp-00000009-0123abcd' })),
      timeline: () => timeline(),
    });
    const { cookie } = await enter();
    const plan = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    const form = formOf(plan);
    const done = await fetchPage('/sessions/s/rollback', { headers: { cookie, origin: ORIGIN }, form });
    expect(await done.text()).toContain('/sessions/s/plan?checkpoint=cp-00000009-0123abcd');
    const applied = calls.filter(({ input }) => !JSON.stringify(input).includes('dryRun'));
    expect(applied.filter(({ name }) => name === 'rollback')).toEqual([
      {
        name: 'rollback',
        input: {
          sessionId: 's',
          checkpointId: 'cp-00000001-0123abcd',
          requestId: 'r-1',
          epoch: 1,
          by: 'rita',
        },
      },
    ]);
  });

  test.each([
    ['where it went', 1, false],
    ['somewhere else since', 2, true],
  ] as const)(
    'that was done already, and the session is %s, is not planned anew',
    async (_, epoch, isMoved) => {
      const applied = { status: 'APPLIED', undoCheckpointId: 'cp-00000009-0123abcd', by: { name: 'rita' } };
      const { fetchPage, enter, calls } = made({
        rollback: ({ requestId }: { requestId: string }) => rollback(requestId === 'r-1' ? applied : {}),
        timeline: () => ({ session: { ...session('s'), epoch }, checkpoints: [], messages: [] }),
      });
      const { cookie } = await enter();
      const plan = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
      const sent = { headers: { cookie, origin: ORIGIN }, form: { ...formOf(plan), digest: 'of-before' } };
      const text = await (await fetchPage('/sessions/s/rollback', sent)).text();
      expect(text).toContain('Rolled back');
      expect(text).toContain('(claimed)');
      expect(text.includes('moved again since then')).toBe(isMoved);
      expect(calls.filter(({ name }) => name === 'rollback').slice(1)).toHaveLength(2);
    },
  );

  test('that is begun is gone on with, whatever is left of its plan', async () => {
    let applied = 0;
    const { fetchPage, enter } = made({
      rollback: keeping(
        () => {
          applied += 1;
          return rollback({ status: 'APPLIED' });
        },
        (requestId) => rollback(requestId === 'r-1' ? { epoch: 2 } : {}),
      ),
      timeline: () => timeline({ busy: { kind: 'rollback', requestId: 'r-1', untilMs: 1 } }),
    });
    const { cookie } = await enter();
    const plan = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    const sent = { headers: { cookie, origin: ORIGIN }, form: formOf(plan) };
    expect(await (await fetchPage('/sessions/s/rollback', sent)).text()).toContain('Rolled back');
    expect(applied).toBe(1);
  });

  test('that takes longer than an answer may gives the same form again', async () => {
    const { fetchPage, enter } = made(
      {
        rollback: ({ dryRun }: { dryRun?: boolean }) => {
          if (dryRun === true) return rollback();
          throw new WalkbackError('StillRunning', 'it goes on');
        },
      },
      { isOneProcess: false },
    );
    const { cookie } = await enter();
    const plan = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    const form = formOf(plan);
    const still = await fetchPage('/sessions/s/rollback', { headers: { cookie, origin: ORIGIN }, form });
    const text = await still.text();
    expect(still.status).toBe(202);
    // Back and reload lead to the page of the session.
    expect(text).toContain('<html lang="en" data-instead="/sessions/s">');
    expect(text).toContain('action="/sessions/s/rollback"');
    for (const [name, value] of Object.entries(form)) {
      expect(text).toContain(`<input type="hidden" name="${name}" value="${value}" />`);
    }
  });

  test('that would do something else by now shows the new plan, and does nothing', async () => {
    let epoch = 1;
    const timeline = () => ({ session: session('s'), checkpoints: [], messages: [] });
    const { fetchPage, enter, calls } = made({ rollback: () => rollback({ epoch }), timeline });
    const { cookie } = await enter();
    const plan = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    epoch = 2;
    const form = formOf(plan);
    const again = await (
      await fetchPage('/sessions/s/rollback', { headers: { cookie, origin: ORIGIN }, form })
    ).text();
    expect(again).toContain('Something changed since you looked');
    expect(digestIn(again)).not.toBe(digestIn(plan));
    const asked = calls.filter(({ name }) => name === 'rollback');
    expect(asked.every(({ input }) => (input as { dryRun?: boolean }).dryRun === true)).toBe(true);
  });
});

describe('what somebody else was quicker with', () => {
  const REVERT = { message: 'm', request: 'r-1' };
  const asked = async (path: 'rollback' | 'revert', error: string, epochAfter: number) => {
    let epoch = 1;
    const answer = ({ dryRun }: { dryRun?: boolean }) => {
      if (dryRun === true) return rollback({ epoch, discardedMessageIds: [] });
      epoch = epochAfter;
      throw new WalkbackError(error as 'StaleEpoch', 'somebody moved the session');
    };
    const { fetchPage, enter } = made({ [path]: answer, timeline: () => timeline() });
    const { cookie } = await enter();
    const scope = path === 'rollback' ? 'files' : 'message';
    const plan = await (
      await fetchPage(`/sessions/s/plan?scope=${scope}&message=m`, { headers: { cookie } })
    ).text();
    const form = path === 'rollback' ? formOf(plan) : { ...formOf(plan), ...REVERT };
    return fetchPage(`/sessions/s/${path}`, { headers: { cookie, origin: ORIGIN }, form });
  };

  test.each([
    ['rollback', 'StaleEpoch', 2, 'Something changed since you looked. Nothing was done.'],
    ['revert', 'StaleEpoch', 2, 'Something changed since you looked. Nothing was done.'],
    ['rollback', 'RollbackInProgress', 1, 'Somebody else was at work. Nothing was done.'],
    ['revert', 'RollbackInProgress', 1, 'Somebody else was at work. Nothing was done.'],
  ] as const)(
    'a %s that is refused as %s shows the plan that is so now',
    async (path, error, after, says) => {
      const answer = await asked(path, error, after);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([200, expect.stringContaining(says)]);
      expect(text).toContain('exactly this</button>');
    },
  );

  test.each([
    ['StaleEpoch', 'asked', 'Something changed since you looked. Nothing was done.'],
    ['ResidueChanged', 'asked', 'Something changed since you looked. Nothing was done.'],
    ['RollbackInProgress', 'planned', 'Somebody else was at work. Nothing was done.'],
    // It may have undone effects by then, and the same form goes on with it.
    ['RollbackInProgress', 'asked', 'RollbackInProgress'],
  ] as const)('a rewind that is refused as %s when it is %s: %s', async (name, when, says) => {
    let [epoch, residue, looks] = [1, 'seen', 0];
    const refuse = (): never => {
      if (name === 'StaleEpoch') epoch = 2;
      if (name === 'ResidueChanged') residue = 'other';
      throw new WalkbackError(name, 'somebody else is at work');
    };
    const { fetchPage, enter, calls } = made({
      rewind: ({ dryRun }: { dryRun?: boolean }) => {
        if (dryRun !== true) return refuse();
        looks += 1;
        if (when === 'planned' && looks === 2) return refuse();
        return { requestId: 'r', status: 'PLANNED', epoch, residue, sagas: [], files: rollback({ epoch }) };
      },
    });
    const { cookie } = await enter();
    const plan = await (
      await fetchPage('/sessions/s/plan?scope=all&message=m', { headers: { cookie } })
    ).text();
    const form = { ...formOf(plan), scope: 'all', residue: 'accepted', guidance: 'Ask the customer first.' };
    const sent = { headers: { cookie, origin: ORIGIN }, form };
    const text = await (await fetchPage('/sessions/s/rewind', sent)).text();
    expect(text).toContain(says);
    // What was written is not lost.
    expect(text.includes('Ask the customer first.')).toBe(says.includes('Nothing was done'));
    const asked = calls.flatMap(({ name, input }) =>
      name !== 'rewind' || (input as { dryRun?: true }).dryRun === true ? [] : [input],
    );
    expect(asked).toMatchObject(when === 'asked' ? [{ epoch: 1, residue: 'seen', requestId: 'r-1' }] : []);
  });

  test('who lets something stand by a rewind says why, and what was written is in no address and not lost', async () => {
    let epoch = 1;
    const stands = [{ step: 'mail', tool: 'mail', externalRef: null, reason: 'irreversible' }];
    const plan = { undo: [], stands };
    const { fetchPage, fetchOnly, enter, calls } = made({
      rewind: ({ dryRun }: { dryRun?: boolean }) => {
        if (dryRun === true)
          return {
            requestId: 'r',
            status: 'PLANNED',
            epoch,
            residue: 'seen',
            sagas: [{ sagaId: 's-1', status: 'COMPLETED', epoch: 0, after: null, plan }],
          };
        epoch = 2;
        throw new WalkbackError('StaleEpoch', 'somebody rolled back');
      },
    });
    const { cookie } = await enter();
    const shownPlan = await (
      await fetchPage('/sessions/s/plan?scope=all&message=m', { headers: { cookie } })
    ).text();
    expect(shownPlan).toMatch(/<input id="reason" [^>]*required/);
    const reason = 'they have read it';
    const form = { ...formOf(shownPlan), scope: 'all', residue: 'accepted', reason };
    const answer = await fetchOnly('/sessions/s/rewind', { headers: { cookie, origin: ORIGIN }, form });
    expect(answer.headers.get('location') ?? '').not.toMatch(/read/);
    const sent = await fetchPage('/sessions/s/rewind', { headers: { cookie, origin: ORIGIN }, form });
    expect(await sent.text()).toContain(`value="${reason}"`);
    const asked = calls.flatMap(({ name, input }) =>
      name !== 'rewind' || (input as { dryRun?: true }).dryRun === true ? [] : [input],
    );
    expect(asked).toMatchObject([{ acceptResidue: true, residue: 'seen', reason }]);
  });

  test.each(['Ask the customer first.', '客'.repeat(4000)])(
    'guidance of a rewind is in no address, and is not lost, of any length',
    async (guidance) => {
      let [epoch, isBusy] = [1, true];
      const { fetchOnly, enter } = made({
        rewind: ({ dryRun }: { dryRun?: boolean }) => {
          if (dryRun === true && (epoch === 1 || !isBusy))
            return { requestId: 'r', status: 'PLANNED', epoch, sagas: [] };
          epoch = 2;
          throw new WalkbackError(
            dryRun === true ? 'RollbackInProgress' : 'StaleEpoch',
            'somebody rolled back',
          );
        },
      });
      const { cookie } = await enter();
      const headers = { cookie, origin: ORIGIN };
      const sent = async (form: Record<string, string>): Promise<string> => {
        let answer = await fetchOnly('/sessions/s/rewind', { headers, form });
        for (let place = answer.headers.get('location'); place !== null; ) {
          expect(place).not.toContain('guidance');
          expect(decodeURIComponent(place)).not.toContain(guidance.slice(0, 10));
          answer = await fetchOnly(place, { headers: { cookie } });
          place = answer.headers.get('location');
        }
        return answer.text();
      };
      const plan = await (
        await fetchOnly('/sessions/s/plan?scope=all&message=m', { headers: { cookie } })
      ).text();
      const busy = await sent({ ...formOf(plan), scope: 'effects', guidance });
      expect(busy).toContain('Somebody else is at work on this session. Nothing was done.');
      isBusy = false;
      const kept = [...busy.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const text = await sent(Object.fromEntries(kept.map(([, name = '', value = '']) => [name, value])));
      expect(text).toContain('Something changed since you looked. Nothing was done.');
      expect(text).toContain(guidance);
      // From there another scope is planned on the page of the plan.
      expect(text).toMatch(/href="\/sessions\/s\/plan\?[^"]*scope=effects"/);
    },
  );

  test('the lines of a text are kept and shown as they were written, and not as browsers send them', async () => {
    const { fetchPage, enter, calls } = made({
      rewind: ({ dryRun, guidance }: { dryRun?: boolean; guidance?: string }) => ({
        requestId: 'r-1',
        status: dryRun === true ? 'PLANNED' : 'REWOUND',
        epoch: 1,
        sagas: [],
        files: rollback(),
        guidance,
      }),
    });
    const { cookie } = await enter();
    const plan = await (
      await fetchPage('/sessions/s/plan?scope=all&message=m', { headers: { cookie } })
    ).text();
    const form = { ...formOf(plan), scope: 'all', guidance: 'Ask first.\r\nThen go on.\r\n' };
    const sent = { headers: { cookie, origin: ORIGIN }, form };
    const text = await (await fetchPage('/sessions/s/rewind', sent)).text();
    expect(text).toContain('Ask first.\nThen go on.');
    expect(calls.at(-1)?.input).toMatchObject({ guidance: 'Ask first.\nThen go on.' });
  });

  test('a repository that is the directory of the session is called so', async () => {
    const { fetchPage, enter } = made({
      rollback: () =>
        rollback({ repositories: [{ path: '.', written: 0, deleted: 0, action: 'unchanged' }] }),
    });
    const { cookie } = await enter();
    const text = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    expect(text.replaceAll(/<[^>]*>/g, '')).toContain('As they are: . (the directory itself)');
  });

  test('a plan waits by itself until the other is done', async () => {
    let isBusy = true;
    const { fetchPage, enter } = made({
      rollback: () => {
        if (isBusy) throw new WalkbackError('RollbackInProgress', 'rollback "r" is at work');
        return rollback();
      },
    });
    const { cookie } = await enter();
    const look = () => fetchPage('/sessions/s/plan?message=m', { headers: { cookie } });
    const waiting = await look();
    expect([waiting.status, await waiting.text()]).toEqual([
      409,
      expect.stringContaining('data-refresh="2"'),
    ]);
    isBusy = false;
    expect(await (await look()).text()).toContain('Roll back exactly this');
  });
});

/** No function that a page asks throws them, or nothing but a command helps. */
const OF_COMMANDS: ReadonlySet<string> = new Set([
  'ApprovalPending',
  'CheckpointIncomplete',
  'ChildUndone',
  'CloudUnavailable',
  'DataDirInUse',
  'NotConfirmed',
  'ProofInvalid',
  'ProofRequired',
  'ProofTooOld',
  'RewindUnfinished',
  'Rewound',
  'SagaParked',
  'UnwoundByParent',
]);

test('what to do is told in words of pages, and names no command or option', async () => {
  for (const name of Object.keys(ERRORS).filter((one) => !OF_COMMANDS.has(one))) {
    const page = String(await failurePage({ name, message: '' }).body);
    expect(page, name).toContain('What to do: ');
    expect(page, name).not.toMatch(/\bwalkback [a-z]|--[a-z]/);
  }
});

describe('errors and twins', () => {
  test.each([
    ['SagaNotFound', 404, 'the page Sagas lists them'],
    ['AnswerConflict', 409, 'the queue shows what is asked now'],
    ['InvalidInput', 400, 'go back, and correct what the message names'],
    ['CompensationFailed', 502, 'the queue has the forms'],
    ['StorageUnavailable', 503, 'call again a little later'],
  ] as const)('%s is status %i, with its name, and what to do on pages: %s', async (name, status, advice) => {
    const { fetchPage, enter } = made({
      'describe-saga': () => {
        throw new WalkbackError(name, NASTY);
      },
    });
    const { cookie } = await enter();
    const answer = await fetchPage('/sagas/s', { headers: { cookie } });
    expect(answer.status).toBe(status);
    const text = await answer.text();
    expect(text).toContain(name);
    expect(text).toContain(advice);
    expect(text).not.toMatch(/--help|walkback saga/);
    expect(text).not.toContain('<img');
  });

  test('every page has a JSON twin of what the functions answered', async () => {
    const sessions = { sessions: [session('s')] };
    const saga = { sagaId: 'open', status: 'RUNNING', sessionId: 's' };
    const { fetchPage, enter } = made({
      'list-sessions': () => sessions,
      'list-sagas': ({ status }: { status: string }) => ({ sagas: status === 'RUNNING' ? [saga] : [] }),
    });
    const twin = { ...sessions, openSagas: [saga], found: 1, hasMore: false };
    const { cookie } = await enter();
    expect(await (await fetchPage('/?format=json', { headers: { cookie } })).json()).toEqual(twin);
    const accept = { cookie, accept: 'application/json' };
    expect(await (await fetchPage('/', { headers: accept })).json()).toEqual(twin);
    expect((await fetchPage('/nowhere', { headers: accept })).status).toBe(404);
  });

  test.each([
    ['application/json, text/plain, */*', 'application/json'],
    ['Application/JSON', 'application/json'],
    ['text/html;q=0.4, application/json', 'application/json'],
    ['application/json;q=0.5, text/html', 'text/html; charset=UTF-8'],
    ['application/json;q=0, */*', 'text/html; charset=UTF-8'],
    ['application/json-seq', 'text/html; charset=UTF-8'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=UTF-8'],
    ['*/*', 'text/html; charset=UTF-8'],
  ])('of a page and its twin the one that is asked for first is sent: %s', async (accept, type) => {
    const { fetchPage, enter } = made({ 'list-sessions': () => ({ sessions: [] }), ...NO_SAGA });
    const { cookie } = await enter();
    const { headers } = await fetchPage('/', { headers: { cookie, accept } });
    expect(headers.get('content-type')).toBe(type);
  });
});

const NO_TOTALS = {
  all: [],
  byTool: [],
  byAgent: [],
  byDay: [],
  byStatus: [],
  reconciliations: [],
  secondsToReconcile: null,
};

test.each([
  // A reference of a provider chooses effects and totals too.
  ['view=effects&from=&to=&saga=&ref=re_1&status=', { externalRef: 're_1', view: 'effects' }, undefined],
  ['view=totals&from=&to=&saga=&ref=re_1&status=', { externalRef: 're_1', view: 'totals' }, undefined],
  [
    'view=entries&from=2026-01-01&to=2026-01-02&tool=pay&agent=bot&reference=customer-1&status=',
    { from: '2026-01-01', to: '2026-01-02' },
    'All entries of these days are shown, whatever their tool, agent, resource.',
  ],
  [
    'view=effects&from=2026-01-01&to=2026-01-02&status=rejected',
    { from: '2026-01-01', to: '2026-01-02', view: 'effects' },
    'All effects of these days are shown, whatever their status.',
  ],
  [
    'view=totals&from=2026-01-01&saga=s&ref=re_1',
    { sagaId: 's', view: 'totals' },
    'All of this saga is shown, whatever its days, reference.',
  ],
  ['view=effects&from=&to=&saga=&status=in_doubt&tool=pay', { status: 'in_doubt', tool: 'pay' }, undefined],
  ['view=effects&status=undo_failed&doubt=true', { status: 'undo_failed', doubt: true }, undefined],
  ['view=totals&doubt=false', { doubt: false }, undefined],
  [
    'view=entries&from=2026-01-01&to=2026-01-02&doubt=true',
    { from: '2026-01-01', to: '2026-01-02' },
    'All entries of these days are shown, whatever their doubt.',
  ],
])('the ledger page, of another view than the form was of: %s', async (asked, input, said) => {
  const { fetchPage, enter, calls } = made({
    ...NO_SAGA,
    'query-ledger': ({ view }: { view?: string }) =>
      view === 'totals'
        ? { totals: NO_TOTALS }
        : { entries: [], effects: [], evidence: { head: null, findings: [] } },
  });
  const { cookie } = await enter();
  const text = await (await fetchPage(`/ledger?${asked}`, { headers: { cookie } })).text();
  expect(calls).toContainEqual({ name: 'query-ledger', input: expect.objectContaining(input) });
  if (said === undefined) expect(text).not.toContain('role="note"');
  else expect(text).toContain(said);
});

test.each(['effects', 'totals'])(
  'the %s of a saga say that it runs others, whose money is not in them',
  async (view) => {
    const { fetchPage, enter } = made({
      ...NO_SAGA,
      'query-ledger': (asked: { view?: string }) =>
        asked.view === undefined
          ? { entries: [], evidence: { head: null, findings: [] } }
          : { effects: [], totals: NO_TOTALS, below: ['s.kid'] },
    });
    const { cookie } = await enter();
    const page = async (more: string) =>
      (await fetchPage(`/ledger?view=${view}&saga=s${more}`, { headers: { cookie } })).text();
    const text = await page('');
    expect(text).toContain('It runs 1 saga as a step, and what they did is not in this');
    expect(text).toContain('saga=s.kid');
  },
);

test('an effect that is undone in part says so and what stays, also when its undo did not work at first', async () => {
  const effect = { saga_id: 's', status: 'undone', tool: 'pay', committed_at: '2026-01-01T00:00:00.000Z' };
  const { fetchPage, enter } = made({
    'query-ledger': () => ({ effects: [{ ...effect, residue: 'the fee stays', error: 'Lost: no answer' }] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/ledger?view=effects&ref=re_1', { headers: { cookie } })).text();
  expect(text).toContain('>undone in part<');
  expect(text).toContain('the fee stays');
});

test('whoever may read only the ledger gets it as the first page, and as the page of a saga', async () => {
  const forbidden = (): never => {
    throw new WalkbackError('RoleMissing', 'not for finance');
  };
  const { fetchPage, enter, calls } = made({
    'list-sessions': forbidden,
    'list-sagas': forbidden,
    'list-locks': forbidden,
    'describe-saga': forbidden,
    'query-ledger': () => ({ entries: [], evidence: { head: null, findings: [] } }),
  });
  const { cookie } = await enter();
  for (const path of ['/', '/sagas/refund-7']) {
    const page = await fetchPage(path, { headers: { cookie } });
    expect(page.status, path).toBe(200);
    const text = await page.text();
    expect(text, path).toContain('<h1>Ledger</h1>');
    expect(text, path).toContain('<a href="/ledger" aria-current="page">');
    // That would lead to this page again.
    expect(text, path).not.toContain('href="/sagas/refund-7"');
  }
  expect(calls).toContainEqual({ name: 'query-ledger', input: { sagaId: 'refund-7', limit: 100 } });
  expect((await fetchPage('/sagas', { headers: { cookie } })).status).toBe(403);
});

test.each([
  [0, '0 s'],
  [59, '59 s'],
  [61, '1 min 1 s'],
  [3600, '1 h'],
  [98_765, '1 day 3 h'],
  [200_000, '2 days 7 h'],
])('%i seconds are told in units that people use', (seconds, text) => {
  expect(formatSpan(seconds)).toBe(text);
});

describe('what takes long', () => {
  const planned = async (patienceMs: number) => {
    const gate = Promise.withResolvers<object>();
    const seen = { applied: 0 };
    const { fetchPage, fetchOnly, enter } = made(
      {
        rollback: keeping(() => {
          seen.applied += 1;
          return gate.promise;
        }),
        timeline: () => timeline(),
      },
      { patienceMs },
    );
    const { cookie } = await enter();
    const plan = await (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    const once = /name="once" value="([^"]+)"/.exec(plan)?.[1] ?? '';
    const form = { ...formOf(plan), once };
    const send = () => fetchOnly('/sessions/s/rollback', { headers: { cookie, origin: ORIGIN }, form });
    return { gate, seen, fetchPage, fetchOnly, cookie, form, send };
  };

  test('is answered at once with a page that looks again, and shows the end when it is there', async () => {
    const { gate, seen, fetchPage, cookie, send } = await planned(1);
    const going = await send();
    expect(going.status).toBe(303);
    const place = going.headers.get('location') ?? '';
    const wait = await (await fetchPage(place, { headers: { cookie } })).text();
    expect(wait).toContain('<noscript><meta http-equiv="refresh" content="1" /></noscript>');
    expect(wait).toContain('Rolling back …');
    // A second click on the same form.
    expect((await send()).headers.get('location')).toBe(place);
    gate.resolve(rollback({ status: 'APPLIED', undoCheckpointId: 'cp-00000009-0123abcd' }));
    const done = await (await fetchPage(place, { headers: { cookie } })).text();
    expect(done).toContain('Rolled back');
    expect(done).not.toContain('http-equiv="refresh"');
    // A reload does nothing twice.
    expect(await (await fetchPage(place, { headers: { cookie } })).text()).toContain('Rolled back');
    expect(seen.applied).toBe(1);
  });

  test('and what is done at once are told by an address that back and reload ask for again', async () => {
    const { gate, seen, fetchPage, cookie, send } = await planned(60_000);
    gate.resolve(rollback({ status: 'APPLIED' }));
    const place = (await send()).headers.get('location') ?? '';
    expect(place).toMatch(/^\/work\//);
    for (const _ of [1, 2]) {
      const text = await (await fetchPage(place, { headers: { cookie } })).text();
      expect(text).toContain('Rolled back');
      expect(text).toContain('<a href="/" aria-current="page">Sessions</a>');
    }
    expect(seen.applied).toBe(1);
  });

  test('a program that sends a form is led to what the function answered, in the twin that it asked for', async () => {
    const { gate, fetchPage, cookie, form } = await planned(60_000);
    gate.resolve(rollback({ status: 'APPLIED' }));
    const headers = { cookie, origin: ORIGIN, accept: 'application/json' };
    const answer = await fetchPage('/sessions/s/rollback', { headers, form });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ status: 'APPLIED' }),
    ]);
    const sent = { headers: { cookie, origin: ORIGIN }, form };
    const twin = await fetchPage('/sessions/s/rollback?format=json', sent);
    expect(await twin.json()).toMatchObject({ status: 'APPLIED' });
  });

  test('is told to a program in the twin that it asked for, from the form to the end', async () => {
    const { gate, fetchOnly, fetchPage, cookie, form } = await planned(1);
    const sent = { headers: { cookie, origin: ORIGIN }, form };
    const place = (await fetchOnly('/sessions/s/rollback?format=json', sent)).headers.get('location') ?? '';
    const going = await fetchOnly(place, { headers: { cookie } });
    expect(going.headers.get('content-type')).toContain('application/json');
    gate.resolve(rollback({ status: 'APPLIED' }));
    const done = await fetchPage(place, { headers: { cookie } });
    expect(await done.json()).toMatchObject({ status: 'APPLIED' });
  });

  test('that fails says so, and may be tried again', async () => {
    const { gate, seen, fetchPage, cookie, send } = await planned(1);
    const place = (await send()).headers.get('location') ?? '';
    gate.reject(new WalkbackError('RestoreConflict', 'a directory is in the way'));
    const failed = await fetchPage(place, { headers: { cookie } });
    expect([failed.status, await failed.text()]).toEqual([409, expect.stringContaining('RestoreConflict')]);
    await send();
    expect(seen.applied).toBe(2);
  });

  test('is no page of before: a plan that was left, and is asked for again later, is made anew', async () => {
    let at = 0;
    const plans: ((plan: object) => void)[] = [];
    const { fetchPage, enter } = made(
      { rollback: () => new Promise((resolve) => plans.push(resolve)) },
      { patienceMs: 1, now: () => new Date(at) },
    );
    const { cookie } = await enter();
    const look = async () => (await fetchPage('/sessions/s/plan?message=m', { headers: { cookie } })).text();
    expect(await look()).toContain('Planning the way back …');
    plans[0]?.(rollback({ warnings: ['of before'] }));
    await new Promise((done) => setImmediate(done));
    at = 5 * 60_000;
    expect(await look()).toContain('Planning the way back …');
    plans[1]?.(rollback({ warnings: ['of now'] }));
    const text = await look();
    expect([text.includes('of now'), text.includes('of before')]).toEqual([true, false]);
  });

  test('is shown to nobody else', async () => {
    const { fetchPage, cookie, send } = await planned(1);
    const place = (await send()).headers.get('location') ?? '';
    expect((await fetchPage(place)).status).toBe(401);
    expect((await fetchPage('/work/guess', { headers: { cookie } })).status).toBe(404);
  });
});

describe('a comparison that takes longer than an answer may', () => {
  const timeline = () => ({ session: session('s'), checkpoints: [], messages: [] });
  const PATH = '/sessions/s/compare?from=a&to=now';
  const requestIn = (place: string): string => new URL(place, ORIGIN).searchParams.get('request') ?? '';

  test('is asked for again with the same request, by whichever instance, and then anew', async () => {
    const requests: (string | undefined)[] = [];
    let isDone = false;
    const diff = ({ requestId }: { requestId?: string }) => {
      requests.push(requestId);
      if (!isDone) throw new WalkbackError('StillRunning', 'it goes on');
      return { repositories: [], warnings: [] };
    };
    const [one, other] = [made({ timeline, diff }), made({ timeline, diff })];
    const [{ cookie }, there] = [await one.enter(), await other.enter()];
    const first = await one.fetchPage(PATH, { headers: { cookie } });
    expect(first.status).toBe(303);
    const place = first.headers.get('location') ?? '';
    const still = await other.fetchPage(place, { headers: there });
    expect([still.status, await still.text()]).toEqual([
      202,
      expect.stringContaining('http-equiv="refresh"'),
    ]);
    isDone = true;
    const done = await (await other.fetchPage(place, { headers: there })).text();
    expect(done).toContain('0 of 0 repositories differ');
    expect(done).not.toContain('http-equiv="refresh"');
    expect(requests).toEqual([requestIn(place), requestIn(place), requestIn(place)]);
    const fresh = await (await one.fetchPage(PATH, { headers: { cookie } })).text();
    expect(fresh).toContain('0 of 0 repositories differ');
    expect(requests.at(-1)).not.toBe(requestIn(place));
  });

  test('is made once in one instance, whatever address asks meanwhile', async () => {
    const gate = Promise.withResolvers<object>();
    let asked = 0;
    const diff = () => {
      asked += 1;
      return gate.promise;
    };
    const { fetchPage, enter } = made({ timeline, diff }, { patienceMs: 1 });
    const { cookie } = await enter();
    const get = (path: string) => fetchPage(path, { headers: { cookie } });
    const place = (await get(PATH)).headers.get('location') ?? '';
    expect(requestIn(place)).toMatch(/^console-/);
    expect((await get(PATH)).headers.get('location')).toBe(place);
    const going = await get(place);
    expect([going.status, await going.text()]).toEqual([200, expect.stringContaining('Comparing …')]);
    gate.resolve({ repositories: [], warnings: [] });
    expect(await (await get(place)).text()).toContain('0 of 0 repositories differ');
    expect(asked).toBe(1);
  });

  test('is joined by a program with the id that it gives', async () => {
    const requests: (string | undefined)[] = [];
    const diff = ({ requestId }: { requestId?: string }) => {
      requests.push(requestId);
      return { repositories: [], warnings: [] };
    };
    const { fetchPage, enter } = made({ timeline, diff });
    const { cookie } = await enter();
    const headers = { cookie, accept: 'application/json' };
    await fetchPage(`${PATH}&request=mine`, { headers });
    await fetchPage(PATH, { headers });
    expect(requests).toEqual(['mine', undefined]);
  });
});
