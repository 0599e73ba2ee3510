/** A rewind in the console: what was written on its page is sent as it is, and is not lost when somebody else was quicker. */
import { describe, expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { ORIGIN } from '../support/console-in-process.ts';
import { formOf, openPlan, rollback } from '../support/console-plans.ts';

describe('what somebody else was quicker with', () => {
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
    const { fetchPage, calls, cookie, plan } = await openPlan('scope=all&message=m', {
      rewind: ({ dryRun }: { dryRun?: boolean }) => {
        if (dryRun !== true) return refuse();
        looks += 1;
        if (when === 'planned' && looks === 2) return refuse();
        return { requestId: 'r', status: 'PLANNED', epoch, residue, sagas: [], files: rollback({ epoch }) };
      },
    });
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
    const {
      fetchPage,
      fetchOnly,
      calls,
      cookie,
      plan: shownPlan,
    } = await openPlan('scope=all&message=m', {
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
      const { fetchOnly, cookie, plan } = await openPlan('scope=all&message=m', {
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
    const { fetchPage, calls, cookie, plan } = await openPlan('scope=all&message=m', {
      rewind: ({ dryRun, guidance }: { dryRun?: boolean; guidance?: string }) => ({
        requestId: 'r-1',
        status: dryRun === true ? 'PLANNED' : 'REWOUND',
        epoch: 1,
        sagas: [],
        files: rollback(),
        guidance,
      }),
    });
    const form = { ...formOf(plan), scope: 'all', guidance: 'Ask first.\r\nThen go on.\r\n' };
    const sent = { headers: { cookie, origin: ORIGIN }, form };
    const text = await (await fetchPage('/sessions/s/rewind', sent)).text();
    expect(text).toContain('Ask first.\nThen go on.');
    expect(calls.at(-1)?.input).toMatchObject({ guidance: 'Ask first.\nThen go on.' });
  });
});
