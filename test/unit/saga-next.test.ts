/** Words for people about a saga. Those for the model are another text. */
import { expect, test } from 'vitest';
import type { SagaSummary } from '../../contract/saga-lists.ts';
import { type Observation, SAGA_STATUSES } from '../../contract/saga-observation.ts';
import { nextForPeople } from '../../present/saga-next.ts';
import { observed } from '../support/observed.ts';
import { runCommand } from '../support/recording-app.ts';

const seenAs = (more: Partial<Observation>) => observed(more) as Observation;

const FOR_THE_MODEL = 'Do not retry and do not try to undo them yourself; report the references.';

test.each(SAGA_STATUSES)('of a saga that is %s nobody is told to keep off', async (status) => {
  const seen = seenAs({ sagaId: 's-1', status, advice: FOR_THE_MODEL });
  const { stdout } = await runCommand(['saga', 'show', 's-1'], {
    answers: { 'walkback-describe-saga': seen },
  });
  const words = stdout.replaceAll(/\s+/g, ' ');
  expect(words).not.toContain('report the references');
  expect(words).toContain(nextForPeople(seen).slice(0, 40));
  expect(nextForPeople(seen)).not.toMatch(/do not|yourself/i);
  expect(words.includes('walkback saga retry s-1, or resolve or skip each step')).toBe(
    status === 'COMPENSATION_FAILED',
  );
});

test('a rewind that stopped, a residue and an agent whose turn it is have their own words', () => {
  const rewind = { requestId: 'r', by: 'ada', proof: 'claimed', at: '', after: null };
  const next = (seen: Partial<Observation>) => nextForPeople(seenAs(seen));
  expect(next({ status: 'COMPENSATION_FAILED', rewind })).toMatch(/^The rewind stopped\..*Then it goes on\./);
  expect(next({ status: 'COMPENSATING', rewind })).toContain('then it goes on, by itself');
  const left = { step: 'a', tool: 't', externalRef: null, reason: 'kept' };
  expect(next({ status: 'COMPENSATED', notCompensated: [left] })).toContain('except for what is named above');
  expect(next({ status: 'PAUSED', notCompensated: [{ ...left, nextAttempt: 'soon' }] })).toContain('delayed');
  const interactive = { what: 'next-step' as const, onIdle: 'ask' as const };
  expect(next({ status: 'AWAITING', interactive })).toContain('Its agent submits the next step');
});

test('branches that failed are named for a completed saga, and in the list', async () => {
  const seen = seenAs({ status: 'COMPLETED', branchesFailed: 2 });
  expect(nextForPeople(seen)).toBe(
    '2 branches failed, and what they did was undone. All steps are done. It can be undone, or taken back some steps.',
  );
  const saga: SagaSummary = {
    sagaId: 's-1',
    status: 'COMPLETED',
    definition: null,
    started: 1,
    steps: 1,
    failure: null,
    branchesFailed: 1,
    requestedBy: 'me',
    createdAt: '2026-01-02T10:00:00.000Z',
    updatedAt: '2026-01-02T10:00:00.000Z',
  };
  const { stdout } = await runCommand(['saga', 'list'], {
    answers: { 'walkback-list-sagas': { sagas: [saga] } },
  });
  expect(stdout).toContain('1 branch failed');
});
