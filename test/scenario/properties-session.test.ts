import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import {
  createRepositories,
  edit,
  fingerprint,
  openWorld,
  type Recorded,
  rootOf,
  sandboxIds,
  sdkOf,
  shell,
} from '../support/world.ts';

const test = inTurn('properties-session');

const PATHS = ['api', 'web', 'web/lib'];
/** And those that come and go inside them. */
const ALL_PATHS = [...PATHS, 'api/src', 'web/src'];
/** Those without another one inside. */
const LEAVES = ['api', 'web/lib'];

/** A rule comes or goes, and with it files on disk are hidden or seen. */
const TOGGLE_RULE = `
printf 'k\\n' > "kept-$N.ignored"; printf '%s\\n' "$N" > "seen-$N"
if grep -q ignored .gitignore; then printf '%s\\n' "$N" > .gitignore; else printf '*.ignored\\n' > .gitignore; fi`;

/** A directory of a repository becomes one itself. */
const NEST = `
cd src 2>/dev/null || exit 0
git init -q -b main; printf '%s\\n' "$N" > "nested-$N"; git add -A; git commit -qm "nested $N"; printf 'more\\n' >> "nested-$N"`;
const SEED = printedSeed('properties of a session');
const RUNS = WHOLE ? 12 : 1;

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('edit' as const), of: fc.subarray(PATHS, { minLength: 1 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('rule' as const, 'nest' as const),
      of: fc.constantFrom('api', 'web'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), of: fc.constantFrom(...LEAVES) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rollback' as const), to: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lose-shadow' as const),
      of: fc.subarray(PATHS, { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('review' as const), to: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), to: fc.nat() }) },
);

const cloud = shared(startTestCloud);

let sessions = 0;

/** Plays the steps on a session of its own; every restore must give back exactly what was recorded. */
const play = async (
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
): Promise<void> => {
  const sessionId = `p${++sessions}`;
  const world = await openWorld(cloud(), { sessionId, paths: PATHS });
  world.paths = ALL_PATHS;
  const recorded: Recorded[] = [await world.checkpoint('first')];
  const at = (index: number): Recorded => {
    const found = recorded[index % recorded.length];
    if (found === undefined) throw new Error('nothing recorded');
    return found;
  };
  let epoch = 1;
  let undo: Recorded | undefined;
  for (const [n, one] of steps.entries()) {
    switch (one.kind) {
      case 'edit':
        edit(world.root, n, one.of);
        break;
      case 'rule':
      case 'nest':
        shell(join(world.root, one.of), one.kind === 'rule' ? TOGGLE_RULE : NEST, { N: String(n) });
        break;
      case 'replace':
        await rm(join(world.root, one.of), { recursive: true });
        createRepositories(world.root, [one.of]);
        break;
      case 'checkpoint':
        recorded.push(await world.checkpoint(`t${n}`));
        break;
      case 'rollback':
      case 'undo': {
        const target = one.kind === 'undo' ? undo : at(one.to);
        if (target === undefined) break;
        const before = world.fingerprint();
        const answer = await world.rollback(`r${n}`, target.checkpointId);
        expect(world.fingerprint(), `step ${n}`).toEqual(target.looks);
        expect(answer['epoch']).toBe((epoch += 1));
        undo = { checkpointId: String(answer['undoCheckpointId']), looks: before };
        recorded.push(undo);
        break;
      }
      case 'lose-shadow':
        for (const path of one.of)
          await rm(join(world.root, path, '.agent-shadow'), { recursive: true, force: true });
        break;
      case 'review': {
        const { checkpointId, looks } = at(one.to);
        const { sandboxId } = await cloud().invoke('rehydrate', { sessionId, checkpointId });
        expect(fingerprint(rootOf(cloud(), String(sandboxId)), ALL_PATHS), `step ${n}`).toEqual(looks);
        await sdkOf(cloud()).kill(String(sandboxId));
        break;
      }
      case 'kill': {
        await sdkOf(cloud()).kill(world.sandboxId);
        const { checkpointId, looks } = at(one.to);
        const resumed = await cloud().invoke('rehydrate', {
          sessionId,
          checkpointId,
          mode: 'resume',
          requestId: `h${n}`,
        });
        world.sandboxId = String(resumed['sandboxId']);
        expect(world.fingerprint(), `step ${n}`).toEqual(looks);
        expect(resumed['epoch']).toBe((epoch += 1));
        undo = undefined;
      }
    }
  }
  // Whatever happened, everything that was recorded is still there.
  for (const [index, { checkpointId, looks }] of recorded.entries()) {
    if (index % 2 === steps.length % 2) continue;
    await world.rollback(`end-${index}`, checkpointId);
    expect(world.fingerprint(), `at the end, number ${index}`).toEqual(looks);
  }
  await sdkOf(cloud()).kill(world.sandboxId);
  expect(await sandboxIds(cloud())).toEqual([]);
};

test('any sequence of edits, checkpoints, rollbacks, losses and rehydrations gives back exactly what was recorded', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 7 }), play), {
    seed: SEED,
    numRuns: RUNS,
    endOnFailure: true,
  });
}, 1_200_000);
