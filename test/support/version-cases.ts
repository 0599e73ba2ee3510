/** New versions of a tool come while sagas run: each call is of the version that its step was pinned with, and who is asked too. */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { createRewindSaga } from '../../core/saga/people/rewind-saga.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { sagaFleet } from './saga-fleet.ts';
import { committed, rejected, scriptedTool } from './scripted-saga.ts';

const evaluate = createEvaluator();
const SAGAS = ['a', 'b', 'c'];

const change = fc.record({
  kind: fc.constantFrom('change' as const),
  effect: fc.constantFrom<ToolManifest['effect']>('compensatable', 'irreversible', 'partial', 'read'),
  exclusive: fc.boolean(),
});
const saga = fc.constantFrom(...SAGAS);
const step = fc.record({ approval: fc.boolean(), key: fc.constantFrom('x', 'y') });
const steps = fc.array(step, { minLength: 1, maxLength: 4 });
const start = fc.record({ kind: fc.constant('start' as const), saga, steps, isLimited: fc.boolean() });
const live = fc.record({ kind: fc.constant('live' as const), saga, isAllowed: fc.boolean() });
const action = fc.oneof(
  { weight: 3, arbitrary: change },
  start,
  live,
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      saga,
      id: fc.constantFrom('one', 'two', 'three'),
      waits: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), saga, approve: fc.boolean() }) },
  fc.record({
    kind: fc.constant('rewind' as const),
    saga,
    steps: fc.integer({ min: 1, max: 3 }),
    tail: fc.option(steps, { nil: undefined }),
  }),
  fc.record({ kind: fc.constantFrom('undo' as const, 'cancel' as const, 'close' as const), saga }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      ms: fc.constantFrom(0, 1, 1000, 20_000, 60_000, 4_000_000),
    }),
  },
  fc.record({ kind: fc.constant('fail' as const), isLost: fc.boolean() }),
  // A clock that was wrong is set.
  fc.record({ kind: fc.constant('clock' as const), ms: fc.constantFrom(-660_000, 3_600_000) }),
);

type Action = typeof action extends fc.Arbitrary<infer Drawn> ? Drawn : never;

interface Tally {
  calls: number;
  asked: number;
  refused: number;
  rewound: number;
}

const run = async (actions: readonly Action[], seed: number) => {
  let draw = seed;
  const random = () => {
    draw = (draw * 48_271) % 2_147_483_647;
    return draw / 2_147_483_647;
  };
  const problems: string[] = [];
  let failing: 'rejected' | 'lost' | undefined;
  const versions: ToolManifest[] = [];
  /** What each step was pinned with: of the epoch in which it was, and later ones. */
  const pinned = new Map<string, { epoch: number; version: string; asks: boolean }>();
  const keyOf = (sagaId: string, index: number, epoch: number) => `${sagaId} ${index} ${epoch}`;
  const pinOf = (sagaId: string, index: number, epoch: number) => {
    for (let at = epoch; at >= 0; at -= 1) {
      const known = pinned.get(keyOf(sagaId, index, at));
      if (known !== undefined) return known;
    }
    return undefined;
  };
  const approved = new Set<string>();
  const place = (forwardKey: string) => {
    const [, sagaId = '', index = '', epoch = '0'] = /^(.+):(\d+)(?:@(\d+))?$/.exec(forwardKey) ?? [];
    return { sagaId, index: Number(index), epoch: Number(epoch) };
  };
  const fleet = sagaFleet({
    random,
    dies: () => random() < 0.02,
    invoke: async (request: ToolRequest) => {
      const { sagaId, index, epoch } = place(request.forwardKey);
      const pin = pinOf(sagaId, index, epoch);
      const what = `${request.operation} ${request.forwardKey} of version ${request.version}`;
      if (pin?.version !== request.version) problems.push(`${what}, pinned ${pin?.version}`);
      if (
        request.operation === 'execute' &&
        pin?.asks === true &&
        !approved.has(keyOf(sagaId, index, epoch))
      ) {
        problems.push(`${what} without an approval`);
      }
      tally.calls += 1;
      const fails = failing;
      failing = undefined;
      if (fails === 'rejected') return rejected();
      if (fails === 'lost') return { Error: 'States.Timeout', Cause: '' };
      return committed({ ok: true });
    },
  });
  const { store } = fleet;
  const rewind = createRewindSaga({ ...fleet, evaluate });
  const put = async (effect: ToolManifest['effect'], exclusive: boolean) => {
    const version = String(versions.length + 1);
    const tool = scriptedTool('pay', effect, {
      version,
      ...(exclusive && effect !== 'read' ? { resourceKey: 'key', exclusive: true } : {}),
    });
    versions.push(tool);
    await store.putTool(tool);
  };
  await put('compensatable', false);
  const newest = () => versions.at(-1) as ToolManifest;
  const planned = (drawn: readonly { approval: boolean; key: string }[], from: number) =>
    drawn.map(({ approval, key }, at) => ({
      id: `s${from + at}`,
      tool: 'pay',
      arguments: { key },
      ...(approval ? { approval: { timeoutSeconds: 3600 } } : {}),
    }));
  const tally: Tally = { calls: 0, asked: 0, refused: 0, rewound: 0 };

  const act = async (one: Action): Promise<void> => {
    switch (one.kind) {
      case 'change':
        return put(one.effect, one.exclusive);
      case 'settle':
        return fleet.settle(one.ms);
      case 'clock':
        return fleet.clock.advance(one.ms);
      case 'fail':
        failing = one.isLost ? 'lost' : 'rejected';
        return;
      case 'start': {
        const isKnown = (await store.getHead(one.saga)) !== undefined;
        const limit = one.isLimited ? { project: 'p', maxConcurrent: 1 } : {};
        const plan = { steps: planned(one.steps, 0) };
        await fleet.start({ sagaId: one.saga, plan, input: {}, requestedBy: 'me', ...limit });
        if (isKnown) return;
        for (const [index, { approval }] of one.steps.entries()) {
          pinned.set(keyOf(one.saga, index, 0), { epoch: 0, version: newest().version, asks: approval });
        }
        return;
      }
      case 'live': {
        const allow = one.isAllowed ? { allowIrreversible: ['pay'] } : {};
        await fleet.start({
          sagaId: one.saga,
          interactive: { onIdle: 'unwind', idleTimeoutSeconds: 40_000_000, ...allow },
          requestedBy: 'me',
        });
        return;
      }
      case 'submit': {
        const head = await store.getHead(one.saga);
        if (head?.state.interactive === undefined) return;
        const known = await store.getSubmittedStep(one.saga, one.id);
        const { version, effect } = newest();
        const asks = effect === 'irreversible' && head.state.interactive.allowIrreversible === undefined;
        const key = keyOf(one.saga, head.state.stepCount, head.state.epoch);
        const before = pinned.get(key);
        if (known === undefined) pinned.set(key, { epoch: head.state.epoch, version, asks });
        try {
          await fleet.submit({
            sagaId: one.saga,
            stepId: one.id,
            tool: 'pay',
            arguments: { key: 'x' },
            waitSeconds: one.waits ? 60 : 0,
          });
        } catch (error) {
          if (known === undefined && (await store.getSubmittedStep(one.saga, one.id)) === undefined) {
            if (before === undefined) pinned.delete(key);
            else pinned.set(key, before);
          }
          throw error;
        }
        return;
      }
      case 'answer': {
        const head = await store.getHead(one.saga);
        if (head?.state.wait?.kind !== 'approval') return;
        const { step: index } = head.state.wait;
        const entries = await store.listEntries(one.saga);
        const asked = entries.findLast(
          ({ direction, status }) => direction === 'approval' && status === 'requested',
        );
        if (asked === undefined || !('step' in asked)) throw new Error('nobody asked');
        const { epoch } = head.state;
        if (one.approve) approved.add(keyOf(one.saga, index, epoch));
        await fleet.answer({
          sagaId: one.saga,
          stepId: asked.step,
          epoch,
          decision: one.approve ? 'approve' : 'reject',
          by: 'ada',
        });
        return;
      }
      case 'rewind': {
        const head = await store.getHead(one.saga);
        if (head === undefined) return;
        const requestId = `r${tally.rewound}-${one.saga}`;
        const at = Math.max(0, head.state.effects.length - one.steps);
        const cursor = head.state.effects[at]?.step ?? head.state.cursor;
        const tail = one.tail === undefined ? undefined : planned(one.tail, cursor);
        await rewind({
          sagaId: one.saga,
          to: { steps: one.steps },
          requestId,
          acceptResidue: true,
          reason: 'it may stay',
          by: 'ada',
          ...(tail === undefined ? {} : { plan: { steps: tail } }),
        });
        tally.rewound += 1;
        const entries = await store.listEntries(one.saga);
        const asked = entries.findLast(({ status }) => status === 'rewind_requested');
        if (asked?.status !== 'rewind_requested') throw new Error('no rewind');
        if (one.tail === undefined || tail === undefined) return;
        for (const [place, { approval }] of one.tail.entries()) {
          const epoch = head.state.epoch + 1;
          pinned.set(keyOf(one.saga, asked.cursor + place, epoch), {
            epoch,
            version: newest().version,
            asks: approval,
          });
        }
        return;
      }
      case 'undo':
      case 'cancel':
        await fleet.operate({
          sagaId: one.saga,
          action: one.kind,
          by: 'ada',
          ...(one.kind === 'undo' ? { acceptResidue: true, evidence: 'it may stay' } : {}),
        });
        return;
      case 'close':
        await fleet.close({ sagaId: one.saga, outcome: 'unwind' });
        return;
    }
  };
  for (const one of actions) {
    try {
      await act(one);
    } catch (error) {
      if (!(error instanceof WalkbackError)) throw error;
      tally.refused += 1;
    }
  }
  await fleet.settle(20_000_000);
  // They hold locks and slots for as long as they are open.
  for (const saga of SAGAS) await act({ kind: 'close', saga }).catch(() => undefined);
  await fleet.settle();
  for (const sagaId of SAGAS) {
    const head = await store.getHead(sagaId);
    if (head === undefined) continue;
    const entries = await store.listEntries(sagaId);
    const asked = entries.flatMap((entry) =>
      entry.direction === 'approval' && entry.status === 'requested'
        ? [keyOf(sagaId, entry.stepIndex, entry.epoch)]
        : [],
    );
    tally.asked += asked.length;
    if (new Set(asked).size < asked.length) problems.push(`${sagaId} asked twice: ${asked.join(', ')}`);
    for (const key of asked) {
      const [, index, epoch] = key.split(' ');
      if (pinOf(sagaId, Number(index), Number(epoch))?.asks !== true)
        problems.push(`${key} asked for nothing`);
    }
    const { status, wait } = head.state;
    // What could not be taken back keeps its lock.
    const isAtRest = ['COMPLETED', 'COMPENSATED', 'COMPENSATION_FAILED'].includes(status);
    const heads = await Promise.all(SAGAS.map((id) => store.getHead(id)));
    const isKept = heads.some((one) => one?.state.status === 'COMPENSATION_FAILED');
    if (!isAtRest && !(wait?.kind === 'resource' && isKept))
      problems.push(`${sagaId} is ${status}, ${JSON.stringify(wait)}`);
  }
  return { problems, tally };
};

/** A saga with a plan and an interactive one begin at first, so that something happens to both. */
const worlds = fc.record({
  first: fc.tuple(start, live),
  later: fc.array(action, { minLength: 10, maxLength: 80, size: 'max' }),
  seed: fc.integer({ min: 1, max: 2_000_000_000 }),
});

export const checkVersions = async (seed: number, numRuns: number): Promise<Tally> => {
  const total: Tally = { calls: 0, asked: 0, refused: 0, rewound: 0 };
  await fc.assert(
    fc.asyncProperty(worlds, async ({ first, later, seed: drawn }) => {
      const { problems, tally } = await run([...first, ...later], drawn);
      for (const name of ['calls', 'asked', 'refused', 'rewound'] as const) total[name] += tally[name];
      expect(problems).toEqual([]);
    }),
    { seed, numRuns, interruptAfterTimeLimit: 120_000 },
  );
  return total;
};
