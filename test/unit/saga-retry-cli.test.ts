/** `walkback saga retry --all`: pages, the list before anything is told, and what becomes of each. */
import { expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { runCommand } from '../support/recording-app.ts';

const env = { USER: 'ada' };
const step = (name: string, error: string) => ({
  step: name,
  tool: 'pay',
  externalRef: 're',
  reason: 'compensation failed',
  error: { name: error, message: 'away' },
});
const seen = (sagaId: string, steps: unknown[], status = 'COMPENSATION_FAILED') => ({
  sagaId,
  status,
  committed: [],
  compensated: [],
  notCompensated: steps,
  results: [],
  advice: '',
});
const SAGAS: Record<string, ReturnType<typeof seen>> = {
  a: seen('a', [step('x', 'Http503'), step('y', 'Refused')]),
  b: seen('b', [step('x', 'Refused'), { ...step('z', 'CompensationBlocked') }]),
  c: seen('c', [step('x', 'Http503')]),
  d: seen('d', [step('x', 'Http503')], 'PAUSED'),
  e: seen('e', [], 'PAUSED'),
};
const PAGES: Record<string, { ids: string[]; cursor?: string }> = {
  COMPENSATION_FAILED: { ids: ['a', 'b'], cursor: '2' },
  'COMPENSATION_FAILED 2': { ids: ['c'] },
  PAUSED: { ids: ['d', 'e'] },
  COMPENSATING: { ids: [] },
};

const below = (sagaId: string, one: ReturnType<typeof step>) => ({ ...one, sagaId, path: 'p' });
/** A tree as `walkback-describe-saga` tells it: of each saga, with all below it. */
const TREE: Record<string, ReturnType<typeof seen>> = {
  root: seen('root', [
    step('outer', 'ChildFailed'),
    below('outer', step('inner', 'ChildFailed')),
    below('inner', step('one', 'Http503')),
  ]),
  outer: seen('outer', [step('inner', 'ChildFailed'), below('inner', step('one', 'Http503'))]),
  inner: seen('inner', [step('one', 'Http503')]),
  // Its child is undone, and it was not told.
  missed: seen('missed', [step('outer', 'ChildFailed')]),
};

const retry = (
  argv: string[],
  operate: (input: { sagaId: string }) => unknown = ({ sagaId }) => ({
    sagaId,
    status: 'COMPENSATING',
  }),
  sagas = SAGAS,
  pages = PAGES,
) =>
  runCommand(['saga', 'retry', ...argv], {
    env,
    answers: {
      'walkback-list-sagas': ({ status, cursor }: { status: string; cursor?: string }) => {
        const page = pages[cursor === undefined ? status : `${status} ${cursor}`];
        return { sagas: (page?.ids ?? []).map((sagaId) => ({ sagaId })), cursor: page?.cursor };
      },
      'walkback-describe-saga': ({ sagaId }: { sagaId: string }) => {
        if (sagaId === 'broken') throw new WalkbackError('LedgerBroken', 'seq 3 was changed');
        return sagas[sagaId];
      },
      'walkback-operate-saga': operate,
    },
  });

const told = (calls: { name: string; input: unknown }[]) =>
  calls.filter(({ name }) => name === 'walkback-operate-saga').map(({ input }) => input);

test.each([[['a']], [['a', 'x']], [['a', '--error', 'Http503']]])(
  'a dry run of one saga is refused, not done: %j',
  async (argv) => {
    const { calls, failure } = await retry([...argv, '--dry-run']);
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: '--dry-run belongs to --all. Nothing was tried again.',
      hint: expect.stringContaining('walkback saga show a'),
    });
    expect(calls).toEqual([]);
  },
);

test('lists what failed with one error, in all pages and statuses, and tells nobody', async () => {
  const { calls, stdout, failure } = await retry(['--all', '--error', 'Http503', '--dry-run']);
  expect(failure).toBeUndefined();
  expect(told(calls)).toEqual([]);
  for (const sagaId of ['a', 'c', 'd']) expect(stdout).toContain(`${sagaId}  `);
  expect(stdout).toContain('3 compensations in 3 sagas.');
  expect(stdout).not.toContain('Refused');
});

test('tells each of them, with the name', async () => {
  const { calls, stdout } = await retry(['--all', '--error', 'Http503', '--yes']);
  expect(told(calls)).toEqual(
    ['a', 'c', 'd'].map((sagaId) => ({ sagaId, action: 'retry', by: 'ada', error: 'Http503' })),
  );
  expect(stdout).toContain('3 retried, 0 not.');
});

test('without a name takes all that failed, but not what waits for another step', async () => {
  const { stdout } = await retry(['--all', '--dry-run']);
  expect(stdout).toContain('5 compensations in 4 sagas.');
  expect(stdout).not.toContain('CompensationBlocked');
});

test('of a tree, each effect is named and retried once, with the saga that has it', async () => {
  const { stdout, calls, failure } = await retry(
    ['--all', '--yes', '--json'],
    ({ sagaId }) =>
      sagaId === 'inner' || sagaId === 'missed'
        ? { sagaId, status: 'COMPENSATING' }
        : new WalkbackError('OperationRefused', 'What is left is left of its children'),
    TREE,
    { COMPENSATION_FAILED: { ids: Object.keys(TREE) } },
  );
  expect(told(calls)).toMatchObject([{ sagaId: 'inner' }, { sagaId: 'missed' }]);
  expect(JSON.parse(stdout)).toMatchObject({
    sagas: [{ sagaId: 'inner', steps: [{ step: 'one' }] }, { sagaId: 'missed' }],
    refused: [],
  });
  expect(failure).toBeUndefined();
});

test('one saga that moved on keeps no other from its turn', async () => {
  const { stdout, calls, failure } = await retry(
    ['--all', '--error', 'Http503', '--yes', '--json'],
    ({ sagaId }) =>
      sagaId === 'a' ? new WalkbackError('OperationRefused', 'moved on') : { sagaId, status: 'COMPENSATING' },
  );
  expect(told(calls)).toHaveLength(3);
  expect(JSON.parse(stdout)).toMatchObject({
    retried: [{ sagaId: 'c' }, { sagaId: 'd' }],
    refused: [{ sagaId: 'a', name: 'OperationRefused', reason: 'moved on' }],
  });
  expect(failure).toMatchObject({ name: 'OperationRefused', exitCode: 4 });
});

test.each([
  [['--all'], 'There is no terminal to ask'],
  [['--all', '--json'], 'With --json nobody is asked'],
  [[], 'Give a saga, or --all.'],
  [['r1', '--all'], 'Give a saga, or --all.'],
])('%j tells nobody and says why', async (argv, message) => {
  const { calls, failure } = await retry(argv);
  expect(failure?.message).toContain(message);
  expect(told(calls)).toEqual([]);
});

test('a saga that cannot be told keeps no other from its turn, and is named', async () => {
  const pages = { COMPENSATION_FAILED: { ids: ['broken', 'c'] } };
  const done = await retry(['--all', '--yes'], undefined, SAGAS, pages);
  const told = done.calls.filter(({ name }) => name === 'walkback-operate-saga');
  expect(told).toMatchObject([{ input: { sagaId: 'c' } }]);
  expect(done.stdout).toContain('1 retried, 1 not.');
  expect(done.stdout).toContain('seq 3 was changed');
  expect(done.failure).toMatchObject({ name: 'LedgerBroken' });
  const planned = await retry(['--all', '--dry-run'], undefined, SAGAS, pages);
  expect(planned.stdout).toContain('broken');
  expect(planned.failure).toMatchObject({ name: 'LedgerBroken' });
});
