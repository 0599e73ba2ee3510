/**
 * The built-in tools of workspaces under every crash: a call or its compensator dies or fails at each port call, before and after
 * it had its effect. Asked again by its key, it is done once; taken back by its key, nothing of it is left, no sandbox either. A
 * sample, others each time; every other one in `npm run test:long`.
 */
import { expect } from 'vitest';
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { Workspaces } from '../../core/checkpoint/ports/workspace.ts';
import type { Outcome } from '../../core/saga/decide/saga-events.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import { workspaceTools } from '../../tools/workspace/catalog.ts';
import { createUses, type WorkspacePorts } from '../../tools/workspace/uses.ts';
import { type Counter, createCounter, FAULTS, type Fault } from '../support/fakes/faults.ts';
import { healthySandbox } from '../support/fakes/healthy-sandbox.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const test = inTurn('workspace-tools-convergence');

const SEED = printedSeed('convergence of built-in tools');
/** Of a tool that makes few calls, more of them. */
const stepsOf = (every: number): { step: number; first: number } => {
  const step = WHOLE ? 2 : every;
  return { step, first: 1 + (SEED % step) };
};

interface Prepared {
  stage: Stage;
  forks: { sessionId: string; sandboxId: string }[];
}

/** A session that stands at a checkpoint, and two forks with work that goes together. */
const prepare = async (): Promise<Prepared> => {
  const stage = await createWorkingStage();
  await stage.instance().checkpoint('m2', 't3');
  const forks = [];
  for (const [requestId, path] of [
    ['f1', 'web'],
    ['f2', 'notes'],
  ] as const) {
    const fork = await stage.instance().fork({ requestId });
    stage.edit(path, { [`${requestId}.txt`]: requestId }, fork.sandboxId);
    await stage.instance().checkpoint('f', 'f', { sessionId: fork.sessionId });
    forks.push(fork);
  }
  return { stage, forks };
};

interface Case {
  tool: string;
  arguments: (prepared: Prepared) => ToolRequest['arguments'];
  every: number;
  /** What taking it back does not bring back. */
  staysEnded?: true;
  /** Work after the call, which begin_work takes back. */
  after?: (prepared: Prepared) => void;
}

const CASES: Case[] = [
  { tool: 'open_workspace', every: 29, arguments: () => ({ sessionId: SESSION }) },
  {
    tool: 'begin_work',
    every: 7,
    arguments: () => ({ sessionId: SESSION }),
    after: ({ stage }) => stage.edit('api', { 'work.txt': 'work' }),
  },
  {
    tool: 'apply_changeset',
    every: 29,
    arguments: ({ forks }) => ({ from: forks[0]?.sessionId ?? '', into: SESSION, expectUnchanged: true }),
  },
  {
    tool: 'apply_changeset',
    every: 29,
    arguments: ({ forks }) => ({ from: forks.map(({ sessionId }) => sessionId), into: SESSION }),
  },
  {
    tool: 'dismiss_workspace',
    every: 2,
    arguments: ({ forks }) => ({ sessionId: forks[0]?.sessionId ?? '' }),
    staysEnded: true,
  },
];

const workspacesOf = (stage: Stage): Workspaces => ({
  ...healthySandbox,
  runCommand: async ({ sandboxId }) => {
    stage.edit('api', { 'ran.txt': 'ran' }, sandboxId);
    return { kind: 'ended', exitCode: 0, milliseconds: 1, output: '' };
  },
});

const callerOf = ({ stage }: Prepared, one: Case, args: ToolRequest['arguments']) => {
  const tombstones = memoryTombstones();
  const now = () => stage.clock.now().getTime();
  let attempt = 0;
  return async (operation: ToolRequest['operation'], counter?: Counter): Promise<Outcome> => {
    const { deps } = stage.instance(counter);
    const workspaces = workspacesOf(stage);
    const ports: WorkspacePorts = {
      ...deps,
      workspaces: counter === undefined ? workspaces : counter.wrap('workspaces', workspaces),
    };
    const handle = toolHandler(workspaceTools(createUses(ports)), { tombstones, now });
    attempt += 1;
    return handle({
      operation,
      tool: one.tool,
      version: '1.0.0',
      sagaId: 'saga',
      step: 'step',
      attempt,
      idempotencyKey: operation === 'compensate' ? 'saga:1:undo' : 'saga:1',
      forwardKey: 'saga:1',
      deadlineMs: now() + 500_000,
      arguments: args,
    });
  };
};

/** As the engine does it: what was held by a call that died is free when its time is over. */
const untilCommitted = async (
  { stage }: Prepared,
  call: ReturnType<typeof callerOf>,
  operation: ToolRequest['operation'],
  name: string,
): Promise<void> => {
  const first = await call(operation);
  if (first.outcome === 'committed') return;
  expect(JSON.stringify(first), name).toMatch(/RollbackInProgress|StorageUnavailable/);
  stage.passMs(1_000_000);
  expect(await call(operation), name).toMatchObject({ outcome: 'committed' });
};

const look = ({ stage, forks }: Prepared) => ({
  sandboxes: stage.world.running.size,
  files: stage.world.filesOf(SANDBOX),
  ended: forks.filter(({ sessionId }) => stage.store.tables.sessions.get(sessionId)?.status === 'ended')
    .length,
  busy: stage.session().busy,
});

type Way = 'again' | 'taken back' | 'taking back';

/** One fault; false when there were fewer calls. */
const interrupted = async (one: Case, way: Way, fault: Fault, wanted: ReturnType<typeof look>) => {
  const prepared = await prepare();
  const before = look(prepared);
  const call = callerOf(prepared, one, one.arguments(prepared));
  const counter = createCounter(fault);
  const name = `${one.tool}, ${way}: ${fault.kind} ${fault.when} call ${fault.at}`;
  if (way === 'taking back') {
    expect(await call('execute'), name).toMatchObject({ outcome: 'committed' });
    one.after?.(prepared);
    await call('compensate', counter);
  } else await call('execute', counter);
  if (!counter.fired) return false;
  if (way === 'again') {
    await untilCommitted(prepared, call, 'execute', name);
    expect(look(prepared), name).toEqual(wanted);
  } else if (way === 'taken back') one.after?.(prepared);
  await untilCommitted(prepared, call, 'compensate', name);
  const left = look(prepared);
  if (one.staysEnded !== true && !(one.tool === 'begin_work' && way !== 'taking back')) {
    expect(left, name).toEqual(before);
  }
  expect(left.sandboxes, name).toBeLessThanOrEqual(before.sandboxes);
  expect(left.busy, name).toBeUndefined();
  return true;
};

const commitments = [{ id: 'a', description: 'a', command: 'true', timeoutSeconds: 5 }];
const READS: Case[] = [
  { tool: 'preflight', every: 2, arguments: () => ({ template: 'base', projectsRoot: '/projects' }) },
  { tool: 'verify_commitments', every: 9, arguments: () => ({ sessionId: SESSION, commitments }) },
  { tool: 'checkpoint_workspace', every: 7, arguments: () => ({ sessionId: SESSION }) },
  { tool: 'prepare_changeset', every: 7, arguments: () => ({ sessionId: SESSION }) },
];

test.each(READS)('$tool changes nothing, and is answered when it is asked again', async (one) => {
  const { step, first } = stepsOf(one.every);
  let total = 0;
  for (const fault of FAULTS) {
    for (let at = first; ; at += step) {
      const prepared = await prepare();
      const before = look(prepared);
      const call = callerOf(prepared, one, one.arguments(prepared));
      const counter = createCounter({ ...fault, at });
      const name = `${one.tool}: ${fault.kind} ${fault.when} call ${at}`;
      await call('execute', counter);
      if (!counter.fired) break;
      total += 1;
      // The copy of a call that died ends by itself (workspace-faults.test.ts).
      const copies = look(prepared).sandboxes - before.sandboxes;
      expect(copies, name).toBeLessThanOrEqual(fault.kind === 'death' ? 1 : 0);
      await untilCommitted(prepared, call, 'execute', name);
      const { sandboxes, ...left } = look(prepared);
      expect({ ...left, sandboxes: sandboxes - copies }, name).toEqual(before);
    }
  }
  expect(total).toBeGreaterThan(WHOLE ? 11 : 1);
});

test('run_in_workspace is taken back, whatever is known of it', async () => {
  const one: Case = {
    tool: 'run_in_workspace',
    every: 13,
    arguments: () => ({ sessionId: SESSION, command: 'true', timeoutSeconds: 5 }),
  };
  const { step, first } = stepsOf(one.every);
  let total = 0;
  for (const way of ['taken back', 'taking back'] as const) {
    for (const fault of FAULTS) {
      for (let at = first; ; at += step) {
        const prepared = await prepare();
        if (!(await interrupted(one, way, { ...fault, at }, look(prepared)))) break;
        total += 1;
      }
    }
  }
  expect(total).toBeGreaterThan(WHOLE ? 12 : 1);
});

test.each(CASES.map((one, at) => ({ ...one, title: `${one.tool} ${at}` })))(
  '$title',
  async (one) => {
    const plain = await prepare();
    await callerOf(plain, one, one.arguments(plain))('execute');
    const wanted = look(plain);
    const { step, first } = stepsOf(one.every);
    let total = 0;
    for (const way of ['again', 'taken back', 'taking back'] as const) {
      for (const fault of FAULTS) {
        for (let at = first; await interrupted(one, way, { ...fault, at }, wanted); at += step) total += 1;
      }
    }
    expect(total).toBeGreaterThan(WHOLE ? 12 : 1);
  },
  600_000,
);

test('of several workspaces one conflicts: what was merged is taken back, also when that is interrupted', async () => {
  const { step, first } = stepsOf(29);
  let total = 0;
  for (const fault of FAULTS) {
    for (let at = first; ; at += step) {
      const prepared = await prepare();
      const { stage, forks } = prepared;
      const [, second] = forks;
      stage.edit('notes', { 'f2.txt': 'mine' });
      await stage.instance().checkpoint('m3', 't4');
      const before = look(prepared);
      const args = { from: forks.map(({ sessionId }) => sessionId), into: SESSION };
      const call = callerOf(prepared, { tool: 'apply_changeset', every: 29, arguments: () => args }, args);
      const counter = createCounter({ ...fault, at });
      await call('execute', counter);
      if (!counter.fired) break;
      total += 1;
      const name = `${fault.kind} ${fault.when} call ${at}`;
      let outcome = await call('execute');
      if (outcome.outcome === 'unknown' || JSON.stringify(outcome).includes('RollbackInProgress')) {
        stage.passMs(1_000_000);
        outcome = await call('execute');
      }
      expect(outcome, `${name} ${second?.sessionId}`).toMatchObject({
        outcome: 'rejected',
        error: { name: 'ChangesetConflict' },
        retryable: false,
      });
      expect(look(prepared), name).toEqual(before);
    }
  }
  expect(total).toBeGreaterThan(WHOLE ? 50 : 2);
}, 600_000);
