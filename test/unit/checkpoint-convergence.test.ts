/**
 * C1, C3, C9 under every crash: at each port call of each operation, before and after it had its effect. Every third of
 * them, others each time; all of them in `npm run test:long`.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../core/shared/ids.ts';
import { createCounter, FAULTS } from '../support/fakes/faults.ts';
import { journalOf } from '../support/fakes/rollbacks.ts';
import { createNewStage, createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const STEP = WHOLE ? 1 : 3;
const FIRST = 1 + (printedSeed('convergence') % STEP);

type Run = (instance: ReturnType<Stage['instance']>) => Promise<unknown>;

/** What must be the same however often an operation was interrupted. Ids of captures may differ. */
const outcome = (stage: Stage) => {
  const { epoch, headSeq, sandboxId, busy, status, messageCount } = stage.session();
  const checkpoints = stage.checkpoints();
  const head = checkpoints.find(({ seq }) => seq === headSeq);
  return {
    epoch,
    status,
    busy,
    messageCount,
    sandboxes: stage.world.running.size,
    files: stage.world.filesOf(sandboxId),
    headTool: head?.toolExecutionId,
    headTrees: head?.repositories.map(({ path, state, tree }) => ({ path, state, tree })),
    tools: checkpoints.filter(({ reason }) => reason !== 'rollback').map((one) => one.toolExecutionId),
    messages: [...stage.store.tables.messages.values()].map(({ messageId, order }) => ({ messageId, order })),
  };
};

/** Every bundle that a stored checkpoint names is in the bucket (C1). */
const expectDurable = (stage: Stage) => {
  const { links, bases, uploads } = stage.store.tables;
  for (const { repositories } of stage.checkpoints()) {
    for (const { state, commit, base, baseOwner = '', chainId } of repositories) {
      if (state !== 'captured') continue;
      const link = [...links.values()].find((one) => one.commit === commit && one.chainId === chainId);
      if (link === undefined) throw new Error(`no link of ${commit}`);
      const { key: object, at = 0, sizeBytes, sha256 } = link.bundle;
      const range = stage.bucket.objects.get(object)?.subarray(at, at + sizeBytes);
      expect(range && sha256Hex(range)).toBe(sha256);
      if (link.bundle.at !== undefined)
        expect(uploads.get(object)?.expiresAt).toBeGreaterThan(link.expiresAt);
      const key = bases.get(`${baseOwner}\n${base}`)?.key ?? '';
      if (base !== undefined) expect(stage.bucket.objects.has(key)).toBe(true);
    }
  }
};

/** No object is in the bucket that an item with an expiry does not lead to. */
const expectIndexed = (stage: Stage, name: string) => {
  for (const key of stage.bucket.objects.keys()) expect(stage.store.tables.uploads.has(key), name).toBe(true);
};

/** Interrupts `run` at every call it makes, repeats it, and hands each repeated stage to `check`. */
const interruptEverywhere = async (
  prepare: () => Promise<Stage>,
  run: Run,
  check: (stage: Stage, plain: Stage, name: string) => void | Promise<void>,
  /** Of interruptions that were made: a matrix that interrupts nothing shows nothing. */
  minimum: number,
) => {
  const plain = await prepare();
  await run(plain.instance());
  let total = 0;
  for (const fault of FAULTS) {
    for (let at = FIRST; ; at += STEP) {
      const stage = await prepare();
      const counter = createCounter({ ...fault, at });
      const first = await run(stage.instance(counter)).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (!counter.fired) break;
      total++;
      const name = `${fault.kind} ${fault.when} call ${at}, ${counter.calls[at - 1]}`;
      expectIndexed(stage, name);
      if (first !== undefined) expect((first as Error).name, name).toMatch(/^(Death|StorageUnavailable)$/);
      await run(stage.instance()).catch((error: unknown) => {
        throw new Error(`repeating after ${name} failed: ${String(error)}`, { cause: error });
      });
      await check(stage, plain, name);
      expectDurable(stage);
    }
  }
  expect(total).toBeGreaterThan(minimum / STEP - 1);
};

describe('an interrupted operation that is called again', () => {
  test('starts a session once', async () => {
    await interruptEverywhere(
      async () => createNewStage(),
      (instance) => instance.startSession(),
      (stage, plain, name) => expect(outcome(stage), name).toEqual(outcome(plain)),
      20,
    );
  });

  test('takes a checkpoint once', async () => {
    await interruptEverywhere(
      createWorkingStage,
      (instance) => instance.checkpoint('m3', 't3'),
      (stage, plain, name) => expect(outcome(stage), name).toEqual(outcome(plain)),
      20,
    );
  });

  test('rolls back once, and can be undone', async () => {
    const before = (await createWorkingStage()).world.filesOf(SANDBOX);
    await interruptEverywhere(
      createWorkingStage,
      (instance) => instance.rollback({ messageId: 'm1', requestId: 'r1' }),
      async (stage, plain, name) => {
        expect(outcome(stage), name).toEqual(outcome(plain));
        const checkpointId = journalOf(stage, 'r1')?.result?.undoCheckpointId ?? '';
        await stage.instance().rollback({ checkpointId, requestId: 'undo' });
        expect(stage.world.filesOf(SANDBOX), name).toEqual(before);
      },
      40,
    );
  });

  test('rolls back although the sandbox lost every capture', async () => {
    const prepare = async () => {
      const stage = await createWorkingStage();
      stage.world.running.get(SANDBOX)?.commits.clear();
      stage.world.running.get(SANDBOX)?.snapshots.clear();
      return stage;
    };
    await interruptEverywhere(
      prepare,
      (instance) => instance.rollback({ messageId: 'm1', requestId: 'r1' }),
      (stage, plain, name) => expect(outcome(stage), name).toEqual(outcome(plain)),
      30,
    );
  });

  test('resumes in one sandbox, however many were made', async () => {
    const prepare = async () => {
      const stage = await createWorkingStage();
      await stage.instance().checkpoint('m3', 't3');
      stage.world.running.delete(SANDBOX);
      return stage;
    };
    await interruptEverywhere(
      prepare,
      (instance) => instance.rehydrate({ mode: 'resume', messageId: 'm2', requestId: 'h1' }),
      (stage, plain, name) => expect(outcome(stage), name).toEqual(outcome(plain)),
      30,
    );
  });

  test('makes one review copy, and leaves the session alone', async () => {
    await interruptEverywhere(
      createWorkingStage,
      (instance) => instance.rehydrate({ requestId: 'h1' }),
      (stage, plain, name) => {
        expect(outcome(stage), name).toEqual(outcome(plain));
        expect(stage.store.tables.copies.size, name).toBe(1);
        const [copy] = stage.store.tables.copies.values();
        const [other] = plain.store.tables.copies.values();
        expect(stage.world.filesOf(copy?.sandboxId ?? ''), name).toEqual(
          plain.world.filesOf(other?.sandboxId ?? ''),
        );
      },
      30,
    );
  });
});

/** Kills `run` at every call it makes, lets its time pass, takes the next checkpoint and hands each stage to `check`. */
const killEverywhere = async (
  run: Run,
  /** What is known of the stage right after the death; `check` gets it back. */
  look: (stage: Stage) => boolean,
  check: (stage: Stage, seen: boolean, name: string) => void,
  minimum: number,
) => {
  let total = 0;
  for (const when of ['before', 'after'] as const) {
    for (let at = FIRST; ; at += STEP) {
      const stage = await createWorkingStage();
      const counter = createCounter({ at, when, kind: 'death' });
      await run(stage.instance(counter)).catch(() => undefined);
      if (!counter.fired) break;
      total++;
      const name = `${when} ${counter.calls[at - 1]} (${at})`;
      const seen = look(stage);
      stage.passMs(1_000_000);
      await stage.instance().checkpoint('m4', 't4');
      expect(stage.session().busy, name).toBeUndefined();
      check(stage, seen, name);
    }
  }
  expect(total).toBeGreaterThan(minimum / STEP - 1);
};

describe('a rollback whose function died for good', () => {
  test('is put back by the next checkpoint, wherever it died, unless its end was stored', async () => {
    await killEverywhere(
      (instance) => instance.rollback({ messageId: 'm1', requestId: 'r1' }),
      (stage) => journalOf(stage, 'r1')?.phase === 'done',
      (stage, isThere, name) => {
        expect(journalOf(stage, 'r1')?.phase ?? 'failed', name).toBe(isThere ? 'done' : 'failed');
        const api = stage.world.filesOf(SANDBOX).api;
        expect(api, name).toEqual({ 'a.txt': isThere ? 'two' : 'three' });
        const head = stage.checkpoints().find(({ seq }) => seq === stage.session().headSeq);
        expect(head?.toolExecutionId, name).toBe('t4');
        expectDurable(stage);
      },
      20,
    );
  });
});

describe('a resume whose function died for good', () => {
  test('is given up by the next checkpoint, and its sandbox is gone', async () => {
    await killEverywhere(
      (instance) => instance.rehydrate({ mode: 'resume', requestId: 'h1' }),
      (stage) => stage.store.tables.rehydrates.get(`${SESSION}\nh1`)?.phase === 'done',
      (stage, isDone, name) => {
        expect(stage.world.running.size, name).toBe(isDone ? 2 : 1);
        expect(stage.session().epoch, name).toBe(isDone ? 2 : 1);
      },
      20,
    );
  });
});
