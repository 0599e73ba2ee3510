/** Searches over random histories with forks, merges and rollbacks: what is found is bad, and what stood before it is good. */
import { expect, test } from 'vitest';
import { errorOf } from '../support/error-of.ts';
import { type BisectStage, createBisectStage } from '../support/fakes/bisect-stage.ts';
import { SANDBOX, SESSION } from '../support/fakes/stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

type Files = Record<string, Record<string, string>>;

const RUNS = WHOLE ? 150 : 25;
const SEED = printedSeed('histories of searches');

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const isBad = (files: Files): boolean =>
  [files['api']?.['a.txt'], files['web']?.['w.txt']].some((text) => text?.includes('broken') === true);

interface Told {
  kinds: Set<string>;
  /** Files at each checkpoint. */
  at: Map<string, Files>;
}

/** The session works in the api, its fork in the web, so that they merge without conflicts. */
const play = async ({ stage, work }: BisectStage, random: () => number): Promise<Told> => {
  const told: Told = { kinds: new Set(), at: new Map() };
  const instance = stage.instance();
  const filesOf = (sandboxId: string): Files => structuredClone(stage.world.filesOf(sandboxId));
  const note = (checkpointId: string | null, files: Files): void => {
    if (checkpointId !== null) told.at.set(checkpointId, files);
  };
  const [baseline] = stage.checkpoints();
  note(baseline?.checkpointId ?? null, filesOf(SANDBOX));
  let fork: { sessionId: string; sandboxId: string } | undefined;
  let unmerged = 0;
  let isBroken = false;
  const good: string[] = [];
  for (let n = 1; n <= 14; n++) {
    // What is broken mostly stays so.
    isBroken = random() < (isBroken ? 0.8 : 0.2);
    const text = `${isBroken ? 'broken' : 'fine'} ${n}`;
    const choice = random();
    if (choice < 0.45) {
      const checkpointId = await work(`m${n}`, 'api/a.txt', text);
      note(checkpointId, filesOf(SANDBOX));
      good.push(checkpointId);
    } else if (choice < 0.6 || fork === undefined) {
      const made = await instance.fork({ requestId: `f${n}` });
      fork = { sessionId: made.sessionId, sandboxId: made.sandboxId };
      note(made.checkpointId, filesOf(fork.sandboxId));
      unmerged = 0;
      told.kinds.add('fork');
    } else if (choice < 0.8) {
      note(await work(`m${n}`, 'web/w.txt', text, fork), filesOf(fork.sandboxId));
      unmerged += 1;
    } else if (choice < 0.92 && unmerged > 0) {
      const before = filesOf(SANDBOX);
      const merged = await instance.merge({ from: fork.sessionId, into: SESSION, requestId: `g${n}` });
      note(merged.undoCheckpointId, before);
      note(merged.checkpointId, filesOf(SANDBOX));
      unmerged = 0;
      told.kinds.add('merge');
    } else if (good.length > 1) {
      const before = filesOf(SANDBOX);
      const back = good[Math.floor(random() * good.length)] ?? '';
      const undone = await instance.rollback({ checkpointId: back, requestId: `r${n}` });
      note(undone.undoCheckpointId, before);
      // What it was forked from may be left behind now.
      fork = undefined;
      told.kinds.add('rollback');
    }
  }
  return told;
};

test('what is found is bad, and what stood before it is good', { timeout: 300_000 }, async () => {
  const seen = new Map<string, number>();
  const count = (kind: string): void => void seen.set(kind, (seen.get(kind) ?? 0) + 1);
  for (let run = 0; run < RUNS; run++) {
    const all = await createBisectStage((files) => (isBad(files) ? 1 : 0));
    const { at, kinds } = await play(all, randomOf(SEED + run));
    for (const kind of kinds) count(kind);
    const running = [...all.stage.world.running.keys()];
    const ended = await all.bisect().catch((error: unknown) => error as Error);
    const name = `SEED=${SEED}, run ${run}`;
    expect([...all.stage.world.running.keys()], name).toEqual(running);
    if (ended instanceof Error) {
      count(ended.name);
      if (ended.name === 'BadPointPasses') expect(isBad(all.stage.world.filesOf(SANDBOX)), name).toBe(false);
      else expect(ended, name).toMatchObject(errorOf('InvalidInput', 'nothing changed'));
      continue;
    }
    const { suspects, through, outcome } = ended;
    const [suspect] = suspects;
    expect([outcome, suspects.length], name).toEqual(['found', 1]);
    const [after, before] = [suspect?.checkpointId, suspect?.previousCheckpointId].map((id) =>
      at.get(id ?? ''),
    );
    if (after === undefined || before === undefined) throw new Error(`${name}: a checkpoint nobody took`);
    expect([isBad(before), isBad(after)], name).toEqual([false, true]);
    count(through.length > 0 ? 'found in what a merge brought' : `found: ${suspect?.reason ?? ''}`);
  }
  process.stdout.write(`histories: ${JSON.stringify(Object.fromEntries(seen))}\n`);
  if (WHOLE)
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(['fork', 'merge', 'rollback', 'found in what a merge brought']),
    );
});
