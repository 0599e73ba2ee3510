/** What the settling of an abandoned rollback tells of the work that it leaves: nothing of it is left out of the count. */
import { describe, expect, test } from 'vitest';
import type { RollbackJournal } from '../../core/checkpoint/journals.ts';
import { settledRollback } from '../../core/checkpoint/settle/settled-rollback.ts';

const AT = '2026-01-02T03:04:05.000Z';
const journal: RollbackJournal = {
  sessionId: 's1',
  requestId: 'r1',
  requestHash: 'h',
  phase: 'started',
  epoch: 2,
  sandboxId: 'sb',
  detached: false,
  filesOnly: false,
  allowPartial: false,
  targetSeq: 1,
  captures: 1,
  startedAt: AT,
  updatedAt: AT,
  expiresAt: 0,
};

const told = (count: number, keptNotListed?: number) =>
  settledRollback(
    journal,
    {
      by: 'checkpoint',
      outcome: 'undone',
      kept: Array.from({ length: count }, (_, n) => `app/f${n}`),
      ...(keptNotListed !== undefined && { keptNotListed }),
    },
    { now: () => new Date(AT), sleep: async () => undefined },
  );

describe('work that stays', () => {
  test.each([
    [1, undefined, 'app/f0.', undefined],
    [6, 0, 'app/f4, and 1 more.', undefined],
    [50, 17, 'app/f4, and 62 more.', 17],
    // The answer has room for 50.
    [53, 17, 'app/f4, and 65 more.', 20],
  ])('%s paths that the sandbox named, and %s that it counted', (count, more, words, notListed) => {
    const settled = told(count, more);
    expect(settled.message).toContain(words);
    expect(settled.keptNotListed).toBe(notListed);
    expect(settled.kept.length + (settled.keptNotListed ?? 0)).toBe(count + (more ?? 0));
  });
});
