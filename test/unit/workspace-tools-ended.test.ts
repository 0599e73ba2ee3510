/**
 * What the tools of workspaces did in a session that is no fork, and that ended since: it cannot be taken back, and its files stand.
 * A person is told at once, with the checkpoint that holds what was there before; nothing is called undone. Where somebody rolled the
 * session back to before it, nothing of it is there.
 */
import { expect, test } from 'vitest';
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { Outcome } from '../../core/saga/decide/saga-events.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import { workspaceTools } from '../../tools/workspace/catalog.ts';
import { createUses, type WorkspacePorts } from '../../tools/workspace/uses.ts';
import { errorOf } from '../support/error-of.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';

const opened = async () => {
  const stage = await createWorkingStage();
  await stage.instance().checkpoint('m2', 't3');
  const fork = await stage.instance().fork({ requestId: 'f' });
  stage.edit('web', { 'f.txt': 'f' }, fork.sandboxId);
  await stage.instance().checkpoint('f', 'f', { sessionId: fork.sessionId });
  return { stage, fork: fork.sessionId };
};

const callerOf = (
  stage: Stage,
  tool: string,
  args: ToolRequest['arguments'],
  meanwhile: () => Promise<unknown> = async () => undefined,
) => {
  const runCommand = async () => {
    stage.edit('api', { 'ran.txt': 'ran' });
    await meanwhile();
    return { kind: 'ended', exitCode: 0, milliseconds: 1, output: '' };
  };
  const ports = { ...stage.instance().deps, workspaces: { runCommand } } as unknown as WorkspacePorts;
  const now = () => stage.clock.now().getTime();
  const handle = toolHandler(workspaceTools(createUses(ports)), { tombstones: memoryTombstones(), now });
  let attempt = 0;
  return (operation: ToolRequest['operation'], more: Partial<ToolRequest> = {}): Promise<Outcome> =>
    handle({
      operation,
      tool,
      version: '1.0.0',
      sagaId: 'saga',
      step: 'step',
      attempt: (attempt += 1),
      idempotencyKey: operation === 'compensate' ? 'saga:1:undo' : 'saga:1',
      forwardKey: 'saga:1',
      deadlineMs: now() + 590_000,
      arguments: args,
      ...more,
    });
};

const CASES: { tool: string; args: (fork: string) => ToolRequest['arguments'] }[] = [
  { tool: 'apply_changeset', args: (fork) => ({ from: fork, into: SESSION }) },
  { tool: 'run_in_workspace', args: () => ({ sessionId: SESSION, command: 'true', timeoutSeconds: 5 }) },
  { tool: 'begin_work', args: () => ({ sessionId: SESSION }) },
];

const done = async ({ tool, args }: (typeof CASES)[number]) => {
  const { stage, fork } = await opened();
  const call = callerOf(stage, tool, args(fork));
  const outcome = await call('execute');
  expect(outcome).toMatchObject({ outcome: 'committed' });
  const { externalRef } = outcome as { externalRef: string };
  stage.edit('notes', { 'since.txt': 'since' });
  return { stage, call, externalRef, files: stage.world.filesOf(SANDBOX) };
};

test.each(CASES)('$tool: its session ended, so a person is told what is to be looked at', async (one) => {
  const { stage, call, externalRef, files } = await done(one);
  await stage.instance().endSession();
  for (const _ of [1, 2]) {
    expect(await call('compensate', { externalRef })).toMatchObject({
      outcome: 'rejected',
      retryable: false,
      error: errorOf(
        'SessionEnded',
        /has ended[^]*Checkpoint cp-\d{8}-[0-9a-f]+ of session session-1 holds what was there before/,
      ),
    });
  }
  expect(stage.world.filesOf(SANDBOX)).toEqual(files);
});

test.each(CASES)('$tool: its session is no longer kept, and nothing says that it was undone', async (one) => {
  const { stage, call, externalRef } = await done(one);
  stage.store.tables.sessions.delete(SESSION);
  expect(await call('compensate', { externalRef })).toMatchObject({
    outcome: 'rejected',
    retryable: false,
    error: { name: 'SessionNotFound', message: expect.stringContaining(externalRef) },
  });
});

test.each(CASES)('$tool: what was taken back before the session ended is answered again', async (one) => {
  const { stage, call, externalRef } = await done(one);
  const first = await call('compensate', { externalRef });
  expect(first).toMatchObject({ outcome: 'committed' });
  await stage.instance().endSession();
  expect(await call('compensate', { externalRef })).toEqual(first);
});

test.each(CASES)(
  '$tool: of a call that did nothing there is nothing to take back',
  async ({ tool, args }) => {
    const { stage, fork } = await opened();
    await stage.instance().endSession();
    const call = callerOf(stage, tool, args(fork));
    expect(await call('compensate')).toMatchObject({ outcome: 'committed' });
    const nowhere = { ...args(fork), [tool === 'apply_changeset' ? 'into' : 'sessionId']: 'never' };
    expect(await callerOf(stage, tool, nowhere)('compensate')).toMatchObject({ outcome: 'committed' });
  },
);

test.each(CASES)('$tool: what somebody rolled back is not brought back', async (one) => {
  const { stage, call, externalRef } = await done(one);
  await stage.instance().rollback({ messageId: 'm1', requestId: 'person' });
  stage.edit('notes', { 'later.txt': 'later' });
  const files = stage.world.filesOf(SANDBOX);
  for (const _ of [1, 2]) {
    expect(await call('compensate', { externalRef })).toMatchObject({ outcome: 'committed' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(files);
  }
});

test.each(CASES)('$tool: what came back with the undo of that rollback is taken back', async (one) => {
  const { stage, call, externalRef } = await done(one);
  const { undoCheckpointId } = await stage.instance().rollback({ messageId: 'm1', requestId: 'person' });
  await stage.instance().rollback({ checkpointId: undoCheckpointId ?? '', requestId: 'undo' });
  const files = stage.world.filesOf(SANDBOX);
  const undone = await call('compensate', { externalRef });
  expect(undone).toMatchObject({ outcome: 'committed', externalRef: expect.any(String) });
  expect(stage.world.filesOf(SANDBOX)).not.toEqual(files);
});

test('run_in_workspace: what stands of it after a rollback to the middle of its work is taken back', async () => {
  const stage = await createWorkingStage();
  const before = stage.world.filesOf(SANDBOX);
  const call = callerOf(
    stage,
    'run_in_workspace',
    { sessionId: SESSION, command: 'true', timeoutSeconds: 5 },
    async () => {
      await stage.instance().checkpoint('middle', 'tool-in-the-middle');
      stage.edit('api', { 'end.txt': 'end' });
    },
  );
  expect(await call('execute')).toMatchObject({ outcome: 'committed' });
  await stage.instance().rollback({ messageId: 'middle', requestId: 'person' });
  expect(stage.world.filesOf(SANDBOX)).not.toEqual(before);
  expect(await call('compensate')).toMatchObject({ outcome: 'committed', externalRef: expect.any(String) });
  expect(stage.world.filesOf(SANDBOX)).toEqual(before);
});

test('work that came since in the same place is for a person too, at once', async () => {
  const { stage, call, externalRef } = await done({
    tool: 'apply_changeset',
    args: (fork) => ({ from: fork, into: SESSION }),
  });
  stage.edit('web', { 'f.txt': 'mine' });
  await stage.instance().checkpoint('m3', 't4');
  expect(await call('compensate', { externalRef })).toMatchObject({
    outcome: 'rejected',
    retryable: false,
    error: { name: 'ChangesetConflict', message: expect.stringContaining('holds what was there before') },
  });
});

test('a merge that was given up while it wrote is not called undone', async () => {
  const { stage, call, externalRef } = await done({
    tool: 'apply_changeset',
    args: (fork) => ({ from: fork, into: SESSION }),
  });
  const [key, journal] = [...stage.store.tables.rollbacks].at(-1) ?? [];
  if (key === undefined || journal === undefined) throw new Error('nothing was merged');
  const settled = { by: 'end-session x', outcome: 'given-up', kept: [], message: 'It wrote.' };
  stage.store.tables.rollbacks.set(key, { ...journal, phase: 'failed', settled } as never);
  expect(await call('compensate', { externalRef })).toMatchObject({
    outcome: 'rejected',
    retryable: false,
    error: { name: 'RollbackIncomplete' },
  });
});

const inTheFork = async (tool: 'open_workspace' | 'dismiss_workspace') => {
  const { stage, fork } = await opened();
  const call = callerOf(stage, tool, { sessionId: tool === 'open_workspace' ? SESSION : fork });
  const made = tool === 'open_workspace' ? await call('execute') : undefined;
  const forkId = made === undefined ? fork : String((made as { externalRef?: string }).externalRef);
  const { sandboxId = '' } = stage.store.tables.sessions.get(forkId) ?? {};
  const files = stage.world.running.get(sandboxId);
  if (files === undefined) throw new Error('the fork has no sandbox');
  // As the embedded cloud says it: a sandbox of another session is mounted on the files of this one.
  stage.world.addSandbox('mounted', Object.fromEntries(files.repositories));
  files.tags = { ...files.tags, 'walkback-mounted-by': 'mounted' };
  const other = { sessionId: 'in-the-fork', sandboxId: 'mounted' };
  await stage.instance().startSession(other);
  const endOther = () => {
    const session = stage.store.tables.sessions.get(other.sessionId);
    stage.store.tables.sessions.set(other.sessionId, { ...session, status: 'ended' } as never);
  };
  return { stage, call, sandboxId, endOther };
};

test.each([
  ['open_workspace', 'compensate'],
  ['dismiss_workspace', 'execute'],
] as const)(
  '%s does not kill the sandbox of a workspace while another session works in it',
  async (tool, operation) => {
    const { stage, call, sandboxId, endOther } = await inTheFork(tool);
    expect(await call(operation)).toMatchObject({
      outcome: 'rejected',
      retryable: false,
      error: { name: 'SessionConflict', message: expect.stringContaining('"in-the-fork" works in') },
    });
    expect(stage.world.running.has(sandboxId)).toBe(true);
    endOther();
    expect(await call(operation)).toMatchObject({ outcome: 'committed' });
    expect(stage.world.running.has(sandboxId)).toBe(false);
  },
);

test.each([
  { tool: 'apply_changeset', args: (fork: string) => ({ from: SESSION, into: fork }) },
  {
    tool: 'run_in_workspace',
    args: (fork: string) => ({ sessionId: fork, command: 'true', timeoutSeconds: 5 }),
  },
  { tool: 'begin_work', args: (fork: string) => ({ sessionId: fork }) },
])(
  '$tool: a fork without a sandbox is tried again, and is through when the fork has ended',
  async ({ tool, args }) => {
    const { stage, fork } = await opened();
    stage.edit('notes', { 'more.txt': 'more' });
    await stage.instance().checkpoint('m3', 't4');
    const call = callerOf(stage, tool, args(fork));
    const outcome = await call('execute');
    expect(outcome).toMatchObject({ outcome: 'committed' });
    const { externalRef } = outcome as { externalRef: string };
    stage.world.running.delete(stage.store.tables.sessions.get(fork)?.sandboxId ?? '');
    expect(await call('compensate', { externalRef })).toMatchObject({
      outcome: 'rejected',
      retryable: true,
      error: { name: 'SandboxNotFound', message: expect.stringContaining('holds what was there before') },
    });
    stage.store.tables.sessions.set(fork, {
      ...stage.store.tables.sessions.get(fork),
      status: 'ended',
    } as never);
    expect(await call('compensate', { externalRef })).toEqual({ outcome: 'committed', result: null });
  },
);
