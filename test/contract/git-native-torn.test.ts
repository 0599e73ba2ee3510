/**
 * Every kind of file of a shadow, torn as a power failure leaves it, before a native capture: it captures what a new session
 * captures, tells no failure, and is where the restores of the scripts start and go. All of it in `npm run test:long`, a
 * few here.
 */
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/capture-command.ts';
import { createNativeCapture } from '../../adapters/git/program/capture.ts';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { inTurn } from '../support/sampled-test.ts';
import { chosenSeed, WHOLE } from '../support/sampling.ts';
import { programHere } from '../support/sandbox-program.ts';

const test = inTurn('git-native-torn');

/** What is left of a file. */
const TEARS = {
  empty: () => Buffer.alloc(0),
  half: (whole) => whole.subarray(0, Math.floor(whole.length / 2)),
  '60 bytes': (whole) => whole.subarray(0, 60),
  zeros: (whole) => Buffer.alloc(whole.length),
  garbage: (whole) => Buffer.from(whole.map((byte, at) => (byte * 31 + at * 17 + 7) & 0xff)),
  missing: () => undefined,
} satisfies Record<string, (whole: Buffer) => Buffer | undefined>;
type Tear = keyof typeof TEARS;

const SHADOW = '.agent-shadow/session-s1';
const ID = /^[0-9a-f]{38,}$/;

/** A staged file, a branch, modes, an empty directory, what is ignored, and what is tracked although it is ignored. */
const MAKE = `mkdir app; cd app; git init -qb main
mkdir -p src/deep; for n in 1 2 3 4 5 6 7 8 9; do echo $n >src/f$n; echo $n >src/deep/g$n; done; echo '*.log' >.gitignore
git add .; echo kept >kept.log; git add -f kept.log; git commit -qm one; echo run >run; chmod 700 run; mkdir empty; echo log >x.log`;
/** Objects of a shadow that was brought in, or packed, are in a pack. */
const PACK = `GIT_DIR=${SHADOW} GIT_WORK_TREE=. git repack -qdl`;
const WORK =
  'echo two >src/f1; rm src/f2; mkdir new; echo n >new/n; git checkout -qb topic; git add .; git commit -qm two; echo staged >staged; git add staged; chmod 755 src/f3';
const dirty = (n: number): string =>
  `echo dirty-${n} >src/f4; echo new-${n} >new/n${n}; rm -f new/n${n - 1}; echo at-${n} >src/deep/g5`;

const filesIn = (directory: string, below = ''): string[] =>
  readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? filesIn(directory, path) : [path];
  });

/** All single objects are of one kind. */
const kindOf = (path: string): string =>
  path.startsWith('objects/') && ID.test(path.split('/').at(-1) ?? '')
    ? 'objects/*'
    : path
        .replace(/pack-[0-9a-f]+/, '*')
        .replace(/chkpt\/.*/, 'chkpt/*')
        .replace(/^borrowed\/\d+\.[0-9a-f]{2}$/, 'borrowed/N.XX');

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
  harness.sh(PACK, 'app');
  harness.sh(WORK, 'app');
  await harness.capture();
  harness.sh(dirty(0), 'app');
  const { undo } = await harness.rollback(first);
  await harness.rollback(undo);
  await harness.capture();
  return { harness, first, looks, atFirst, shadow: join(app, SHADOW) };
};

const tearAll = ({ shadow }: World, kind: string, tear: Tear): void => {
  for (const path of filesIn(shadow).filter((one) => kindOf(one) === kind)) {
    const file = join(shadow, path);
    chmodSync(file, 0o644);
    const { atime, mtime, size } = statSync(file);
    const left = TEARS[tear](readFileSync(file));
    if (left === undefined) rmSync(file);
    else if (size > 0) writeFileSync(file, left);
    // The times were written, the content was not.
    if (left !== undefined) utimesSync(file, atime, mtime);
  }
};

const native = createNativeCapture(programHere(), OUTPUT_BYTES);

/** What a session captures that begins now. */
const fresh = async ({ harness }: World, n: number) => {
  const report = await native(
    harness.sandbox,
    {
      sessionId: `fresh-${n}`,
      projectsRoot: harness.root,
      toolExecutionId: 'x',
      messageId: 'm',
      reason: 'manual',
      known: [],
      knownBases: [],
      include: [],
      exclude: [],
      maxFileBytes: 1 << 28,
      maxDepth: 8,
      timeoutMs: 60_000,
      maxInlineBytes: 8 << 20,
    },
    async () => null,
  );
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
    tearAll(world, kind, tear);
    const { report } = await harness.capture();
    expect(report.failures).toEqual([]);
    expect(idsOf(report)).toEqual(expected);
    tearAll(world, kind, tear);
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

describe('native captures on a torn shadow', () => {
  test('come to what they come to on a whole one', { timeout: 1_200_000 }, async () => {
    const seed = chosenSeed();
    process.stdout.write(`git-native-torn: SEED=${seed}\n`);
    const every = WHOLE ? 5 : 61;
    let world = await prepare();
    const bad: string[] = [];
    let played = 0;
    try {
      const kinds = [...new Set(filesIn(world.shadow).map(kindOf))].toSorted();
      const all = kinds.flatMap((kind) =>
        (Object.keys(TEARS) as Tear[]).map((tear) => [kind, tear] as const),
      );
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
