/** A rollback in the console does what its page showed, and shows the new plan when something else was quicker. */
import { describe, expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, ORIGIN } from '../support/console-in-process.ts';
import { digestIn, formOf, keeping, openPlan, rollback, timeline } from '../support/console-plans.ts';

describe('a rollback', () => {
  test('does exactly what was shown, under one request', async () => {
    const { fetchPage, calls, cookie, plan } = await openPlan('message=m', {
      rollback: keeping(() => rollback({ status: 'APPLIED', undoCheckpointId: 'cp-00000009-0123abcd' })),
      timeline: () => timeline(),
    });
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
      const { fetchPage, calls, cookie, plan } = await openPlan('message=m', {
        rollback: ({ requestId }: { requestId: string }) => rollback(requestId === 'r-1' ? applied : {}),
        timeline: () => timeline({ epoch }),
      });
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
    const { fetchPage, cookie, plan } = await openPlan('message=m', {
      rollback: keeping(
        () => {
          applied += 1;
          return rollback({ status: 'APPLIED' });
        },
        (requestId) => rollback(requestId === 'r-1' ? { epoch: 2 } : {}),
      ),
      timeline: () => timeline({ busy: { kind: 'rollback', requestId: 'r-1', untilMs: 1 } }),
    });
    const sent = { headers: { cookie, origin: ORIGIN }, form: formOf(plan) };
    expect(await (await fetchPage('/sessions/s/rollback', sent)).text()).toContain('Rolled back');
    expect(applied).toBe(1);
  });

  test('that takes longer than an answer may gives the same form again', async () => {
    const { fetchPage, cookie, plan } = await openPlan(
      'message=m',
      {
        rollback: ({ dryRun }: { dryRun?: boolean }) => {
          if (dryRun === true) return rollback();
          throw new WalkbackError('StillRunning', 'it goes on');
        },
      },
      { isOneProcess: false },
    );
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
    const { fetchPage, calls, cookie, plan } = await openPlan('message=m', {
      rollback: () => rollback({ epoch }),
      timeline: () => timeline(),
    });
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
    const scope = path === 'rollback' ? 'files' : 'message';
    const answers = { [path]: answer, timeline: () => timeline() };
    const { fetchPage, cookie, plan } = await openPlan(`scope=${scope}&message=m`, answers);
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

  test('a repository that is the directory of the session is called so', async () => {
    const { plan } = await openPlan('message=m', {
      rollback: () =>
        rollback({ repositories: [{ path: '.', written: 0, deleted: 0, action: 'unchanged' }] }),
    });
    expect(plan.replaceAll(/<[^>]*>/g, '')).toContain('As they are: . (the directory itself)');
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
