import { beforeAll, describe, expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { describeCase, failAndRepeat, faultCases, openFaultLine } from '../support/fault-matrix.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import { edit, fingerprint, openWorld, type Recorded, rootOf, sandboxIds, sdkOf } from '../support/world.ts';

const test = inTurn('faults-rehydrate');

let target: Recorded;
const cloud = shared(startTestCloud);
const line = shared(() => openFaultLine(cloud()));
const world = shared(() => openWorld(cloud(), { paths: ['api', 'web'] }));
beforeAll(async () => {
  edit(world().root, 1, world().paths);
  await world().checkpoint('first');
  edit(world().root, 2, world().paths);
  target = await world().checkpoint('second');
});

/** One of them, the other one at another time; both in a whole run. */
const MODES = sampled(
  [
    { mode: 'review', epochs: 0 },
    { mode: 'resume', epochs: 1 },
  ],
  { every: 2, offset: printedSeed('mode of rehydrate') },
);

describe.each(MODES)('whatever fails at whatever call of a rehydrate', ({ mode, epochs }) => {
  test(`${mode}: the same call again answers one whole sandbox, and no other is left`, async () => {
    const rehydrate = (requestId: string) =>
      cloud().invoke('rehydrate', { sessionId: 's1', requestId, mode });
    const counts = await line().count(() => rehydrate(`${mode}-clean`));
    let metCount = 0;
    const cases = faultCases(`rehydrate ${mode}`, counts, { every: 100, whole: 17, minimum: 1 });
    for (const [index, fault] of cases.entries()) {
      const name = describeCase(fault);
      const { epoch } = (await world().timeline()).session;
      const others = await sandboxIds(cloud());

      const { met, answer: second } = await failAndRepeat(line(), fault, () => rehydrate(`${mode}-${index}`));
      if (met) metCount += 1;
      const sandboxId = String(second['sandboxId']);
      expect(fingerprint(rootOf(cloud(), sandboxId), world().paths), name).toEqual(target.looks);
      expect(await sandboxIds(cloud()), name).toEqual([...others, sandboxId].toSorted());
      const { session } = await world().timeline();
      expect(session, name).toMatchObject({
        epoch: epoch + epochs,
        busy: null,
        ...(mode === 'resume' && { sandboxId }),
      });
      const gone = mode === 'resume' ? world().sandboxId : sandboxId;
      if (mode === 'resume') world().sandboxId = sandboxId;
      await sdkOf(cloud()).kill(gone);
    }
    expect(metCount).toBeGreaterThanOrEqual(cases.length / 2);
  }, 1_800_000);
});

/** Which E2B calls change something in the sandbox, from 1: the create, and the command. */
const CHANGING = [
  { what: 'create', path: /^\/v2\/sandboxes$/ },
  { what: 'command', path: '/process.Process/Start' },
];

test.each(CHANGING)('a $what that is delivered twice leaves one whole sandbox', async ({ what, path }) => {
  const proxy = line().proxies().e2b;
  const others = await sandboxIds(cloud());
  const before = proxy.count();
  const clean = await cloud().invoke('rehydrate', { sessionId: 's1', requestId: `clean-${what}` });
  await sdkOf(cloud()).kill(String(clean['sandboxId']));
  const calls = proxy.seen.slice(before);
  const at =
    1 + calls.findIndex((call) => (typeof path === 'string' ? call.path === path : path.test(call.path)));
  expect(at, calls.map((call) => call.path).join(' ')).toBeGreaterThan(0);

  const { met, outcome } = await line().run({ service: 'e2b', at, kind: 'delivered twice' }, () =>
    cloud().invoke('rehydrate', { sessionId: 's1', requestId: `twice-${what}` }),
  );
  expect(met).toBe(true);
  if (outcome.status === 'rejected') throw outcome.reason;
  const sandboxId = String(outcome.value['sandboxId']);
  expect(fingerprint(rootOf(cloud(), sandboxId), world().paths)).toEqual(target.looks);
  expect(await sandboxIds(cloud())).toEqual([...others, sandboxId].toSorted());
});
