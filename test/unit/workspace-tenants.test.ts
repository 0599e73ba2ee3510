/**
 * What forks, merges, reverts, partial rollbacks and records of changes tell of a session of another tenant: nothing, whatever names
 * of it a caller knows. And a session is known by more than its id, which may be used again.
 */
import { describe, expect, test } from 'vitest';
import { createReadChanges } from '../../core/checkpoint/content/read-changes.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { errorOf } from '../support/error-of.ts';
import { createCounter } from '../support/fakes/faults.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const OTHER = 'bank';
const VAULT = 'sandbox-of-the-bank';
/** What only the other session knows. */
const SECRETS = ['treasure', 'vault', 'gold', 'robbery'];

interface Two {
  stage: Stage;
  /** A checkpoint of the other session, whose id somebody found. */
  known: string;
  fork: string;
}

/** A shop's session, and a bank's, which has a fork. */
const twoTenants = async (): Promise<Two> => {
  const stage = await createWorkingStage();
  const shop = stage.store.tables.sessions.get(SESSION);
  if (shop === undefined) throw new Error('no session');
  shop.tenant = 'shop';
  stage.world.addSandbox(VAULT, { vault: { files: { 'treasure.txt': 'gold' } } });
  const { startSession, checkpoint, fork } = stage.instance();
  await startSession({ sessionId: OTHER, sandboxId: VAULT, tenant: 'bank' });
  stage.edit('vault', { 'treasure.txt': 'gold, and more gold' }, VAULT);
  const message = { role: 'user', title: 'robbery', text: 'robbery' };
  const { checkpointId } = await checkpoint('plan', 'plan', { sessionId: OTHER, message });
  const forked = await fork({ sessionId: OTHER, requestId: 'fork-of-the-bank' });
  stage.edit('vault', { 'treasure.txt': 'gold is gone' }, forked.sandboxId);
  await checkpoint('forked', 'forked', { sessionId: forked.sessionId });
  return { stage, known: checkpointId, fork: forked.sessionId };
};

type Attack = (two: Two, instance: ReturnType<Stage['instance']>) => Promise<unknown>;

const merge =
  (from: (two: Two) => string, into: (two: Two) => string, more: object = {}): Attack =>
  (two, instance) =>
    instance.merge({ from: from(two), into: into(two), requestId: 'a', ...more });
const mine = () => SESSION;
const theirs = () => OTHER;
const forkOf = ({ fork }: Two) => fork;

const ATTACKS: [what: string, name: string, attack: Attack][] = [
  ['merge of it', 'InvalidInput', merge(theirs, mine)],
  ['merge of its fork', 'InvalidInput', merge(forkOf, mine)],
  ['merge into it', 'InvalidInput', merge(mine, theirs)],
  ['merge into its fork, with markers', 'InvalidInput', merge(mine, forkOf, { markers: true })],
  ['plan of a merge', 'InvalidInput', merge(theirs, mine, { dryRun: true })],
  ['merge of some paths', 'InvalidInput', merge(theirs, mine, { paths: ['vault'] })],
  ['fork at its checkpoint', 'CheckpointNotFound', ({ known }, one) => one.fork({ checkpointId: known })],
  ['fork at its message', 'MessageNotFound', (_, one) => one.fork({ messageId: 'plan' })],
  [
    'revert of its checkpoint',
    'CheckpointNotFound',
    ({ known }, one) => one.revert({ checkpointIds: [known], requestId: 'a' }),
  ],
  ['revert of its message', 'MessageNotFound', (_, one) => one.revert({ messageId: 'plan', requestId: 'a' })],
  [
    'revert of its paths',
    'InvalidInput',
    (_, one) => one.revert({ paths: ['vault/treasure.txt'], requestId: 'a', dryRun: true }),
  ],
  [
    'rollback of some paths to its checkpoint',
    'CheckpointNotFound',
    ({ known }, one) => one.rollback({ checkpointId: known, paths: ['api'], requestId: 'a' }),
  ],
  [
    'rehydrate of its checkpoint',
    'CheckpointNotFound',
    ({ known }, one) => one.rehydrate({ checkpointId: known, requestId: 'a' }),
  ],
  [
    'changes of its checkpoint',
    'CheckpointNotFound',
    ({ stage, known }) =>
      createReadChanges({ store: stage.store, bundles: stage.bucket })({
        sessionId: SESSION,
        checkpointId: known,
      }),
  ],
];

describe('a session of another tenant', () => {
  test.each(ATTACKS)('%s: %s, and nothing is told or touched', async (_, name, attack) => {
    const two = await twoTenants();
    const { stage, known, fork } = two;
    const look = () => ({
      sandboxes: [...stage.world.running.keys()],
      files: [...stage.world.running.keys()].map((id) => stage.world.filesOf(id)),
      sessions: [SESSION, OTHER, fork].map((id) => stage.store.tables.sessions.get(id)),
      checkpoints: stage.checkpoints().length,
    });
    const before = structuredClone(look());
    const counter = createCounter();
    const error = await attack(two, stage.instance(counter)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(WalkbackError);
    if (!(error instanceof WalkbackError)) return;
    expect(error.name).toBe(name);
    const told = JSON.stringify([error.message, error.details, String(error.cause)])
      // What the caller itself gave.
      .replaceAll(known, '')
      .replaceAll('vault/treasure.txt', '')
      .replaceAll(fork, '');
    for (const secret of SECRETS) expect(told).not.toContain(secret);
    for (const { sessionId, checkpointId } of stage.checkpoints())
      if (sessionId !== SESSION) expect(told).not.toContain(checkpointId);
    expect(structuredClone(look())).toEqual(before);
    // No command was sent to the sandbox of the other one.
    expect(counter.calls.filter((call) => /^repositories\.(?:compose|restore)/.test(call))).toEqual([]);
  });
});

test('a session that was begun again under the id of a source has nothing in common with its fork', async () => {
  const stage = await createWorkingStage();
  const fork = await stage.instance().fork();
  stage.edit('api', { 'a.txt': 'of the fork' }, fork.sandboxId);
  await stage.instance().checkpoint('f1', 'f1', { sessionId: fork.sessionId });
  // Its retention is over; the fork lives on.
  const tables: Map<string, unknown>[] = Object.values(stage.store.tables);
  for (const table of tables) {
    for (const key of table.keys()) if (key === SESSION || key.startsWith(`${SESSION}\n`)) table.delete(key);
  }
  stage.world.running.delete(SANDBOX);
  stage.passMs(40 * 86_400_000);
  const files = { 'new.txt': 'another session', 'a.txt': 'another' };
  stage.world.addSandbox('sandbox-again', { api: { files }, other: { files } });
  await stage.instance().startSession({ sandboxId: 'sandbox-again' });
  // It comes as far as the source had come.
  for (const n of ['1', '2', '3']) await stage.instance().checkpoint(`m${n}`, `t${n}`);
  const before = stage.world.filesOf('sandbox-again');
  const merge = stage.instance().merge({ from: fork.sessionId, into: SESSION, requestId: 'g' });
  await expect(merge).rejects.toMatchObject(errorOf('InvalidInput', 'have no checkpoint in common'));
  expect(stage.world.filesOf('sandbox-again')).toEqual(before);
});
