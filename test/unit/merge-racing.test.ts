/**
 * W4 beside a writer: a merge captures and composes before it begins, and goes on with that. What is written at any
 * instant of it, once before or after each call that it makes, is seen, and there in the end.
 */
import { expect, test } from 'vitest';
import { meanwhile } from '../support/fakes/faults.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

/** Every fifth instant, others each time; all of them in `npm run test:long`. */
const STEP = WHOLE ? 1 : 5;
const FIRST = 1 + (printedSeed('merges beside a writer') % STEP);

const diverged = async (): Promise<{ stage: Stage; forkId: string }> => {
  const stage = await createWorkingStage();
  const { sessionId: forkId, sandboxId } = await stage.instance().fork();
  stage.edit('web', { 'fork.txt': 'fork', 'w.txt': 'from the fork' }, sandboxId);
  await stage.instance().checkpoint('f1', 'f1', { sessionId: forkId });
  stage.edit('web', { 'mine.txt': 'mine' });
  return { stage, forkId };
};

/** Merges with a write at each instant; `check` sees each end. */
const atEachInstant = async (
  file: string,
  check: (stage: Stage, name: string, end: string) => Promise<void>,
): Promise<void> => {
  let total = 0;
  const ends = new Map<string, number>();
  for (const when of ['before', 'after'] as const) {
    for (let at = FIRST; ; at += STEP) {
      const { stage, forkId } = await diverged();
      const counter = meanwhile(at, when, () => stage.edit('web', { [file]: 'racing' }));
      const end = await stage
        .instance(counter)
        .merge({ from: forkId, into: SESSION, requestId: 'g1' })
        .then(
          ({ status }): string => status,
          (error: unknown) => (error as Error).name,
        );
      if (!counter.fired) break;
      total += 1;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      const name = `${when} call ${at}, ${counter.calls[at - 1]}: ${end}`;
      expect(stage.session().busy, name).toBeUndefined();
      await check(stage, name, end);
    }
  }
  process.stdout.write(`${file}: ${JSON.stringify([...ends])}\n`);
  expect(total).toBeGreaterThan(60 / STEP);
};

test('a file of its own is there after the merge, whenever it was written', async () => {
  await atEachInstant('racing.txt', async (stage, name, end) => {
    expect(end, name).toBe('APPLIED');
    expect(stage.world.filesOf(SANDBOX)['web'], name).toMatchObject({
      'racing.txt': 'racing',
      'fork.txt': 'fork',
      'mine.txt': 'mine',
    });
  });
});

test('a file that the merge writes conflicts, or was written after the merge: it is never overwritten', async () => {
  await atEachInstant('w.txt', async (stage, name, end) => {
    expect(end, name).toMatch(/^(APPLIED|ChangesetConflict)$/);
    const { 'w.txt': racing, 'fork.txt': theirs } = stage.world.filesOf(SANDBOX)['web'] ?? {};
    expect(racing, name).toBe('racing');
    expect(theirs, name).toBe(end === 'APPLIED' ? 'fork' : undefined);
  });
});
