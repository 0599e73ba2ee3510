/**
 * A verification and a look at a template die or fail at each of their calls, before and after it had its effect. Whatever it is, no
 * sandbox is left by a call that ends, and one that dies leaves a sandbox that ends by itself, found by the tags of its call.
 */
import { expect, test } from 'vitest';
import type { SandboxTags } from '../../core/checkpoint/ports/sandbox.ts';
import type { Workspaces } from '../../core/checkpoint/ports/workspace.ts';
import { createPreflight } from '../../core/checkpoint/workspace/preflight.ts';
import { createVerifyCommitments } from '../../core/checkpoint/workspace/verify-commitments.ts';
import { type Counter, createCounter, FAULTS } from '../support/fakes/faults.ts';
import { healthySandbox } from '../support/fakes/healthy-sandbox.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const LIMIT_MS = 600_000;
/** Every fourth call, others each time; all of them in a whole run. */
const STEP = WHOLE ? 1 : 4;
const FIRST = 1 + (printedSeed('faults of workspaces') % STEP);

const workspaces: Workspaces = {
  ...healthySandbox,
  runCommand: async () => ({ kind: 'ended', exitCode: 0, milliseconds: 1, output: '' }),
};

interface Made {
  tags: SandboxTags;
  timeoutMs: number;
}

/** The ports of one call, and what it made. */
const portsOf = (stage: Stage, counter: Counter) => {
  const made: Made[] = [];
  const { deps } = stage.instance(counter);
  const { sandboxes } = stage.world;
  const noting: typeof sandboxes = {
    ...sandboxes,
    create: (wanted) => {
      made.push({ tags: wanted.tags, timeoutMs: wanted.timeoutMs ?? Number.POSITIVE_INFINITY });
      return sandboxes.create(wanted);
    },
  };
  return {
    made,
    deps: {
      ...deps,
      sandboxes: counter.wrap('sandboxes', noting),
      workspaces: counter.wrap('workspaces', workspaces),
    },
  };
};

type Ports = ReturnType<typeof portsOf>['deps'];
type Call = (ports: Ports, deadlineMs: number) => Promise<unknown>;

const commitments = ['a', 'b'].map((id) => ({
  id,
  description: id,
  command: 'true',
  expectExitCode: 0,
  timeoutSeconds: 5,
}));

const CALLS: Record<string, Call> = {
  'verify-commitments': (ports, deadlineMs) =>
    createVerifyCommitments(ports)({ sessionId: SESSION, commitments }, { deadlineMs }),
  preflight: (ports, deadlineMs) =>
    createPreflight(ports)({ template: 'base', projectsRoot: '/projects' }, { deadlineMs }),
};

test.each(Object.entries(CALLS))('%s leaves no sandbox, whatever fails', async (_, call) => {
  const plain = await createWorkingStage();
  const clean = portsOf(plain, createCounter());
  const answer = await call(clean.deps, plain.clock.now().getTime() + LIMIT_MS);
  expect(clean.made).toHaveLength(1);
  expect([...plain.world.running.keys()]).toEqual([SANDBOX]);
  let total = 0;
  for (const fault of FAULTS) {
    for (let at = FIRST; ; at += STEP) {
      const stage = await createWorkingStage();
      const files = stage.world.filesOf(SANDBOX);
      const counter = createCounter({ ...fault, at });
      const { made, deps } = portsOf(stage, counter);
      const deadlineMs = stage.clock.now().getTime() + LIMIT_MS;
      const ended = await call(deps, deadlineMs).then(
        () => 'answered',
        (error: unknown) => (error as Error).name,
      );
      if (!counter.fired) break;
      total += 1;
      const name = `${fault.kind} ${fault.when} call ${at}, ${counter.calls[at - 1]}: ${ended}`;
      expect(ended, name).toMatch(
        fault.kind === 'death' ? /^(Death|answered)$/ : /^(StorageUnavailable|answered)$/,
      );
      const left = [...stage.world.running.values()].filter(({ sandboxId }) => sandboxId !== SANDBOX);
      if (fault.kind === 'error')
        expect(
          left.map(({ tags }) => tags),
          name,
        ).toEqual([]);
      for (const { tags } of left) {
        const one = made.find((other) => other.tags === tags);
        expect(one?.timeoutMs, name).toBeLessThanOrEqual(LIMIT_MS + 30_000);
        expect(tags['walkback-request'], name).toBeDefined();
      }
      expect(stage.world.filesOf(SANDBOX), name).toEqual(files);
      expect(stage.session().busy, name).toBeUndefined();
      // Asked again, it is answered, and makes a sandbox of its own, which goes.
      const count = stage.world.running.size;
      const again = await call(portsOf(stage, createCounter()).deps, deadlineMs);
      expect(again, name).toEqual(answer);
      expect(stage.world.running.size, name).toBe(count);
    }
  }
  // Each kind of fault at one call in `STEP`, of five or more.
  expect(total).toBeGreaterThanOrEqual(FAULTS.length * Math.floor(5 / STEP));
});
