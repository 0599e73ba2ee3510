/** Many executions at once: a bounded number moves, the oldest first, and a call begins soon after it was decided. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createExecutions, type ExecutionsOptions } from '../../local/stepfunctions/executions.ts';
import { printedSeed } from '../support/sampling.ts';

const MACHINE = 'arn:aws:states:us-east-1:000000000000:stateMachine:m';
const task = (name: string, more: object) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: name, 'Payload.$': '$$.Execution.Name' },
  ResultPath: null,
  ...more,
});
const DEFINITION = JSON.stringify({
  StartAt: 'Decide',
  States: {
    Decide: task('decide', { Next: 'Call' }),
    Call: task('call', { Next: 'Rest' }),
    Rest: { Type: 'Wait', SecondsPath: '$.rest', Next: 'Again' },
    Again: task('again', { End: true }),
  },
});

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0)) await close();
});

const arnOf = (name: string) => `${MACHINE.replace(':stateMachine:', ':execution:')}:${name}`;

/** Functions that end when they are told to; `begun` lists what began. */
const setUp = async (more: Partial<ExecutionsOptions> = {}) => {
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  const changed: { resolve: () => void; when: () => boolean }[] = [];
  const executions = await createExecutions({
    machines: [{ stateMachineArn: MACHINE, definition: DEFINITION, substitutions: {} }],
    services: {
      invoke: async (name, execution, begins) => {
        begins?.();
        const one = `${name} ${String(execution)}`;
        const gate = Promise.withResolvers<void>();
        open.set(one, gate.resolve);
        begun.push(one);
        for (const { resolve, when } of changed) if (when()) resolve();
        await gate.promise;
        return { payload: {}, functionError: false };
      },
      publish: async () => ({ messageId: 'm' }),
    },
    places: 2,
    ...more,
  });
  cleanup.push(() => executions.close());
  return {
    executions,
    begun,
    start: (name: string, rest = 3_600) => executions.start(MACHINE, name, JSON.stringify({ rest })),
    end: (one: string) => open.get(one)?.(),
    has: (one: string): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (begun.includes(one)) resolve();
      changed.push({ resolve, when: () => begun.includes(one) });
      return promise;
    },
  };
};

test('a call that was decided begins before anything else is decided; while it works, others move', async () => {
  const { start, end, has, begun } = await setUp();
  for (const name of ['a', 'b', 'c', 'd']) start(name);
  await has('decide a');
  await has('decide b');
  end('decide b');
  await has('call b');
  await has('decide c');
  expect(begun).toEqual(['decide a', 'decide b', 'call b', 'decide c']);
  end('decide a');
  await has('decide d');
  expect(begun.slice(4)).toEqual(['call a', 'decide d']);
});

test('who goes on is older than who has not begun; one that rests has no place', async () => {
  const { start, end, has, begun, executions } = await setUp({ places: 1 });
  start('a', 0);
  start('b');
  start('c');
  await has('decide a');
  end('decide a');
  await has('decide b');
  // Rests for no time, and then waits for the place, before the youngest.
  end('call a');
  const entered = () => executions.history(arnOf('a')).map((one) => one.stateEnteredEventDetails?.name);
  await expect.poll(entered, { timeout: 60_000 }).toContain('Again');
  end('decide b');
  await has('again a');
  end('again a');
  await has('decide c');
  expect(begun).toEqual(['decide a', 'call a', 'decide b', 'call b', 'again a', 'decide c']);
  end('call b');
  end('decide c');
  await has('call c');
  expect(executions.get(arnOf('a'))?.status).toBe('SUCCEEDED');
});

test('one that is stopped in line does nothing, and its place is not lost', async () => {
  const { start, end, has, begun, executions } = await setUp({ places: 1 });
  for (const name of ['a', 'b', 'c']) start(name);
  const b = executions.get(arnOf('b'));
  if (b === undefined) throw new Error('it was not started');
  expect(b.status).toBe('RUNNING');
  await has('decide a');
  executions.stop(b);
  end('decide a');
  await has('decide c');
  expect(b.status).toBe('ABORTED');
  expect(begun).toEqual(['decide a', 'call a', 'decide c']);
});

test('of executions that ended long ago only the end is known', async () => {
  const { start, end, has, executions } = await setUp({ keeps: 2 });
  for (const name of ['a', 'b', 'c']) {
    start(name, 0);
    for (const step of ['decide', 'call', 'again']) {
      await has(`${step} ${name}`);
      end(`${step} ${name}`);
    }
    await executions.idle();
  }
  expect(executions.history(arnOf('c')).length).toBeGreaterThan(10);
  expect(executions.history(arnOf('b')).length).toBeGreaterThan(10);
  expect(executions.history(arnOf('a'))).toEqual([]);
  expect(executions.get(arnOf('a'))).toMatchObject({ status: 'SUCCEEDED' });
  expect(executions.start(MACHINE, 'a', '{"rest":0}')).toBe('exists');
});

test('two hundred at once begin in the order in which they were started, three decide at a time, and each ends', async () => {
  const seed = printedSeed('stepfunctions-admission');
  const [names, deciding] = [Array.from({ length: 200 }, (_, n) => `many-${n}`), new Set<string>()];
  const decided: string[] = [];
  let most = 0;
  let random = seed;
  const executions = await createExecutions({
    machines: [{ stateMachineArn: MACHINE, definition: DEFINITION, substitutions: {} }],
    services: {
      invoke: async (name, payload, begins) => {
        const execution = String(payload);
        begins?.();
        if (name === 'decide') {
          decided.push(execution);
          deciding.add(execution);
          most = Math.max(most, deciding.size);
        }
        // Some take longer than others.
        random = (random * 48_271 + 1) % 2_147_483_647;
        for (let turn = 0; turn < random % 8; turn += 1) await setImmediate();
        deciding.delete(execution);
        return { payload: {}, functionError: false };
      },
      publish: async () => ({ messageId: 'm' }),
    },
    places: 3,
  });
  cleanup.push(() => executions.close());
  for (const name of names) executions.start(MACHINE, name, JSON.stringify({ rest: 0 }));
  await executions.idle();
  expect(decided).toEqual(names);
  expect(most).toBe(3);
  expect(executions.list().filter(({ status }) => status !== 'SUCCEEDED')).toEqual([]);
});
