/** The whole cloud is killed in the middle of checkpoints, rollbacks and rehydrates. The same call again finishes each, once. */
import { beforeAll, expect } from 'vitest';
import { startKilledCloud, timed } from '../support/killed-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { instants, printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import { edit, fingerprint, openWorld, type Recorded, rootOf, sandboxIds } from '../support/world.ts';

const test = inTurn('faults-process-kill');
const runIf = (isChosen: boolean) => (isChosen ? test : test.skip);

/** Kills per operation. */
const KILLS = Number(process.env['KILLS'] ?? (WHOLE ? 4 : 1));
const SEED = printedSeed('process kill');
/** One of them, another one each time; all of them in a whole run. */
const OPERATIONS = sampled(['checkpoint', 'rollback', 'rehydrate'], { every: 3, offset: SEED });

const running = shared(startKilledCloud);
const world = shared(() => openWorld(running().cloud, { paths: ['api', 'web'] }));
beforeAll(async () => {
  running().onUp((cloud) => {
    world().cloud = cloud;
  });
});

const killDuring = (work: () => Promise<unknown>, afterMs: number) => running().killDuring(work, afterMs);
const invoke = (name: string, event: unknown) => running().cloud.invoke(name, event);
let edits = 0;
const change = (): void => edit(world().root, ++edits, world().paths);

runIf(OPERATIONS.includes('checkpoint'))(
  'a checkpoint survives kill -9 of everything: the same call makes exactly one',
  async () => {
    change();
    const { ms } = await timed(() => world().checkpoint('clean'));
    for (const [index, afterMs] of instants(ms, KILLS, SEED).entries()) {
      change();
      const take = () => world().checkpoint(`t${index}`);
      await killDuring(take, afterMs);
      await take();
    }
    const { checkpoints, session } = await world().timeline();
    expect(checkpoints.map(({ toolExecutionId }) => toolExecutionId).toReversed()).toEqual([
      'walkback-baseline',
      'clean',
      ...instants(ms, KILLS, SEED).map((_, index) => `t${index}`),
    ]);
    expect(checkpoints.every(({ complete }) => complete)).toBe(true);
    expect(session).toMatchObject({ epoch: 1, busy: null });
  },
);

runIf(OPERATIONS.includes('rollback'))(
  'a rollback survives kill -9 of everything: the same call finishes it, and it can be undone',
  async () => {
    change();
    const target: Recorded = await world().checkpoint('target');
    change();
    const { ms } = await timed(() => world().rollback('clean', target.checkpointId));
    for (const [index, afterMs] of instants(ms, KILLS, SEED).entries()) {
      change();
      const before = world().fingerprint();
      const { epoch } = (await world().timeline()).session;
      const back = () => world().rollback(`r${index}`, target.checkpointId);
      await killDuring(back, afterMs);
      const answer = await back();
      expect(answer, `after ${afterMs} ms`).toMatchObject({ status: 'APPLIED', epoch: epoch + 1 });
      expect(world().fingerprint(), `after ${afterMs} ms`).toEqual(target.looks);
      await world().rollback(`u${index}`, String(answer['undoCheckpointId']));
      expect(world().fingerprint(), `undo after ${afterMs} ms`).toEqual(before);
    }
    expect((await world().timeline()).session.busy).toBe(null);
  },
);

runIf(OPERATIONS.includes('rehydrate'))(
  'a rehydrate survives kill -9 of everything: one whole sandbox, and no other',
  async () => {
    const { looks } = await world().checkpoint('last');
    const { ms } = await timed(() => invoke('rehydrate', { sessionId: 's1', requestId: 'clean' }));
    for (const [index, afterMs] of instants(ms, KILLS, SEED).entries()) {
      const mode = index % 2 === 0 ? 'review' : 'resume';
      const others = await sandboxIds(running().cloud);
      const again = () => invoke('rehydrate', { sessionId: 's1', requestId: `h${index}`, mode });
      await killDuring(again, afterMs);
      const sandboxId = String((await again())['sandboxId']);
      expect(fingerprint(rootOf(running().cloud, sandboxId), world().paths), `after ${afterMs} ms`).toEqual(
        looks,
      );
      expect(await sandboxIds(running().cloud)).toEqual([...others, sandboxId].toSorted());
    }
    expect((await world().timeline()).session.busy).toBe(null);
  },
);
