/**
 * Every file of a shadow, torn as a power failure leaves it, before every kind of call. The call comes to what it comes to on a
 * whole shadow, or says a reason that is true, and the next one comes to it.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { checkpointSeq } from '../../core/shared/ids.ts';
import { files, gitState } from './fingerprint.ts';
import { createGitStage, type GitStage } from './git-stage.ts';
import { dirty, EVERY_TEAR, kindsIn, MAKE, pack, type Tear, tearAll, WORK } from './torn-files.ts';

const CALLS = ['checkpoint', 'plan', 'rollback', 'undo', 'diff'] as const;
type Call = (typeof CALLS)[number];

interface Torn {
  /** The kind of file: several files of a shadow may be of one kind. */
  kind: string;
  tear: Tear;
  call: Call;
}

const nameOf = ({ kind, tear, call }: Torn): string => `${kind}, ${tear}, ${call}`;

const SHADOW = '.agent-shadow/session-s';

interface World {
  stage: GitStage;
  sandbox: string;
  app: string;
  first: string;
  /** How all looked at the first checkpoint. */
  atFirst: string[];
}

const prepare = async (): Promise<World> => {
  const stage = await createGitStage();
  const sandbox = await stage.addSandbox();
  stage.sh(sandbox, MAKE);
  await stage.start('s', sandbox);
  const first = await stage.checkpoint('s', 'm1');
  const app = join(stage.rootOf(sandbox), 'app');
  const atFirst = looks({ app });
  stage.sh(sandbox, pack(SHADOW), 'app');
  stage.sh(sandbox, WORK, 'app');
  await stage.checkpoint('s', 'm2');
  // A repository that has been rolled back has more of these files than one that was only captured.
  stage.sh(sandbox, dirty(0), 'app');
  const there = await stage.rollback('s', 'made-0', first.checkpointId);
  await stage.rollback('s', 'made-1', there.undoCheckpointId ?? '');
  return { stage, sandbox, app, first: first.checkpointId, atFirst };
};

const looks = ({ app }: { app: string }): string[] => [...files(app), ...gitState(app)];

const captured = async (stage: GitStage, sessionId: string, checkpointId: string) =>
  (await stage.store.getCheckpoint(sessionId, checkpointSeq(checkpointId) ?? 0))?.repositories.map(
    ({ path, state, tree, meta }) => ({ path, state, tree, meta }),
  );

/** What a capture of the same state is where no shadow was before. */
const freshCapture = async ({ stage, app }: World, n: number) => {
  const sandbox = await stage.addSandbox();
  cpSync(app, join(stage.rootOf(sandbox), 'app'), {
    recursive: true,
    preserveTimestamps: true,
    filter: (path) => !path.endsWith('/.agent-shadow'),
  });
  const { checkpointId } = await stage.start(`fresh-${n}`, sandbox);
  const found = await captured(stage, `fresh-${n}`, checkpointId);
  await stage.kill(sandbox);
  return found;
};

/** What each call comes to where nothing is torn, and again where `tear` tore something just before it. */
const ACTS: Record<Call, (world: World, n: number, act: Attempt) => Promise<void>> = {
  checkpoint: async (world, n, act) => {
    const { stage } = world;
    const expected = await freshCapture(world, n);
    await act(async (attempt) => {
      const taken = await stage.checkpoint('s', `c${n}-${attempt}`);
      expect(taken.failures).toEqual([]);
      return captured(stage, 's', taken.checkpointId);
    }, expected);
  },
  plan: async (world, n, act) => {
    const plan = async (attempt: number) => {
      const answer = await world.stage.rollback('s', `p${n}-${attempt}`, world.first, { dryRun: true });
      return { ...answer, looks: looks(world) };
    };
    await act(plan, await plan(0));
  },
  rollback: async (world, n, act) => {
    const before = looks(world);
    let undo = '';
    await act(async (attempt) => {
      const there = await world.stage.rollback('s', `r${n}-${attempt}`, world.first);
      undo = there.undoCheckpointId ?? '';
      return looks(world);
    }, world.atFirst);
    await world.stage.rollback('s', `u${n}`, undo);
    expect(looks(world)).toEqual(before);
  },
  undo: async (world, n, act) => {
    const before = looks(world);
    const { undoCheckpointId } = await world.stage.rollback('s', `r${n}`, world.first);
    await act(async (attempt) => {
      await world.stage.rollback('s', `u${n}-${attempt}`, undoCheckpointId ?? '');
      return looks(world);
    }, before);
  },
  diff: async (world, _n, act) => {
    const diff = () => world.stage.diff('s', world.first, 'now');
    await act(diff, await diff());
  },
};

/** Tears, and calls once, or twice where the first one fails. */
type Attempt = <T>(call: (attempt: number) => Promise<T>, expected: T) => Promise<void>;

interface Outcome {
  torn: Torn;
  /** Why the first call failed, where it did. */
  told?: string;
  /** What is wrong: the answer, or what came after. */
  wrong?: string;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const playOne = async (world: World, n: number, torn: Torn): Promise<Outcome> => {
  world.stage.sh(world.sandbox, dirty(n), 'app');
  let told: string | undefined;
  const attempt: Attempt = async (call, expected) => {
    tearAll(join(world.app, SHADOW), torn.kind, torn.tear);
    let value = await call(1).catch((error: unknown) => {
      told = messageOf(error);
      return undefined;
    });
    if (told !== undefined) value = await call(2);
    expect(value).toEqual(expected);
  };
  try {
    await ACTS[torn.call](world, n, attempt);
    return { torn, ...(told !== undefined && { told }) };
  } catch (error) {
    return { torn, ...(told !== undefined && { told }), wrong: messageOf(error) };
  }
};

/** All of them, by the files that a shadow has after everything was done once. */
const everyTear = async (): Promise<Torn[]> => {
  const world = await prepare();
  await using _ = world.stage;
  return kindsIn(join(world.app, SHADOW)).flatMap((kind) =>
    EVERY_TEAR.flatMap((tear) => CALLS.map((call) => ({ kind, tear, call }))),
  );
};

/** A diff brings nothing from the store. Where objects are gone, it says so, and how to compare in a copy. */
const isTrue = ({ kind, call }: Torn, said: string): boolean =>
  call === 'diff' && kind.startsWith('objects/') && said.includes('does not hold both captures');

/** One after another in one world, and in another one after something went wrong. */
const playTears = async (tears: readonly Torn[], note: (outcome: Outcome) => void): Promise<void> => {
  let world: World | undefined;
  try {
    for (const [n, torn] of tears.entries()) {
      world ??= await prepare();
      const outcome = await playOne(world, n + 1, torn);
      note(outcome);
      if (outcome.wrong === undefined && outcome.told === undefined) continue;
      await world.stage[Symbol.asyncDispose]();
      world = undefined;
    }
  } finally {
    await world?.stage[Symbol.asyncDispose]();
  }
};

/** Every nth of them. All that went wrong is shown at once. Returns how many were played. */
export const tornShadows = async ({ every, seed }: { every: number; seed: number }): Promise<number> => {
  process.stdout.write(`tornShadows: SEED=${seed}\n`);
  const chosen = (await everyTear()).filter((_, index) => index % every === seed % every);
  const bad: string[] = [];
  await playTears(chosen, ({ torn, told, wrong }) => {
    const said = wrong ?? told;
    if (said !== undefined && !isTrue(torn, said)) bad.push(`${nameOf(torn)}: ${said.slice(0, 600)}`);
  });
  expect(bad).toEqual([]);
  return chosen.length;
};
