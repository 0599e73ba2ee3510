/** What takes longer than an answer may, in the console: pages that look again, and the end when it is there. */
import { describe, expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, ORIGIN, session } from '../support/console-in-process.ts';
import { formOf, keeping, openPlan, rollback, timeline } from '../support/console-plans.ts';

describe('what takes long', () => {
  const planned = async (patienceMs: number) => {
    const gate = Promise.withResolvers<object>();
    const seen = { applied: 0 };
    const { fetchPage, fetchOnly, cookie, plan } = await openPlan(
      'message=m',
      {
        rollback: keeping(() => {
          seen.applied += 1;
          return gate.promise;
        }),
        timeline: () => timeline(),
      },
      { patienceMs },
    );
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
