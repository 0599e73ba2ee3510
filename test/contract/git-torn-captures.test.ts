/**
 * Every kind of file of a shadow, torn as a power failure leaves it, before a capture: it captures what a new session
 * captures, tells no failure, and is where restores start and go. All of it in `npm run test:long`, a
 * few here.
 */
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/announced.ts';
import { createCapture } from '../../adapters/git/program/capture.ts';
import { captureRequest } from '../support/capture-request.ts';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { inTurn } from '../support/sampled-test.ts';
import { chosenSeed, WHOLE } from '../support/sampling.ts';
import { programHere } from '../support/sandbox-program.ts';
import { dirty, EVERY_TEAR, kindsIn, MAKE, pack, type Tear, tearAll, WORK } from '../support/torn-files.ts';

const test = inTurn('git-torn-captures');

const SHADOW = '.agent-shadow/session-s1';

interface World {
  harness: Harness;
  first: Snapshot;
  looks: () => string[];
  atFirst: string[];
  shadow: string;
}

const prepare = async (): Promise<World> => {
  const harness = await createHarness();
  const app = join(harness.root, 'app');
  const looks = (): string[] => [...files(app), ...gitState(app)];
  harness.sh(MAKE);
  const first = await harness.capture();
  const atFirst = looks();
  harness.sh(pack(SHADOW), 'app');
  harness.sh(WORK, 'app');
  await harness.capture();
  harness.sh(dirty(0), 'app');
  const { undo } = await harness.rollback(first);
  await harness.rollback(undo);
  await harness.capture();
  return { harness, first, looks, atFirst, shadow: join(app, SHADOW) };
};

const capture = createCapture(programHere(), OUTPUT_BYTES);

/** What a session captures that begins now. */
const fresh = async ({ harness }: World, n: number) => {
  const report = await capture(harness.sandbox, captureRequest(harness.root, `fresh-${n}`), async () => null);
  harness.sh(`rm -rf app/.agent-shadow/session-fresh-${n} .agent-shadow/*-fresh-${n}*`);
  return idsOf(report);
};

const idsOf = ({ repositories }: Pick<Snapshot['report'], 'repositories'>) =>
  repositories.map(({ path, state, tree, meta }) => ({ path, state, tree, meta }));

/** Tears, captures, goes back to the first capture, and returns. Answers what is wrong. */
const playOne = async (world: World, n: number, kind: string, tear: Tear): Promise<string | undefined> => {
  const { harness, first, looks, atFirst } = world;
  harness.sh(dirty(n), 'app');
  const expected = await fresh(world, n);
  const before = looks();
  try {
    tearAll(world.shadow, kind, tear);
    const { report } = await harness.capture();
    expect(report.failures).toEqual([]);
    expect(idsOf(report)).toEqual(expected);
    tearAll(world.shadow, kind, tear);
    const there = await harness.rollback(first);
    expect([there.report.outcome, there.report.problems, there.undo.report.failures]).toEqual([
      'applied',
      [],
      [],
    ]);
    expect(looks()).toEqual(atFirst);
    const back = await harness.rollback(there.undo);
    expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
    expect(looks()).toEqual(before);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('captures on a torn shadow', () => {
  test('come to what they come to on a whole one', { timeout: 1_200_000 }, async () => {
    const seed = chosenSeed();
    process.stdout.write(`git-torn-captures: SEED=${seed}\n`);
    const every = WHOLE ? 4 : 41;
    let world = await prepare();
    const bad: string[] = [];
    let played = 0;
    try {
      const all = kindsIn(world.shadow).flatMap((kind) => EVERY_TEAR.map((tear) => [kind, tear] as const));
      for (const [kind, tear] of all.filter((_, at) => at % every === seed % every)) {
        played += 1;
        const wrong = await playOne(world, played, kind, tear);
        if (wrong === undefined) continue;
        bad.push(`${kind}, ${tear}: ${wrong.slice(0, 900)}`);
        await world.harness[Symbol.asyncDispose]();
        world = await prepare();
      }
    } finally {
      await world.harness[Symbol.asyncDispose]();
    }
    expect(bad).toEqual([]);
    expect(played).toBeGreaterThanOrEqual(WHOLE ? 30 : 3);
  });
});
