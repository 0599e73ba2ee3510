/** Where the sandbox does not hold both points, whoever compares takes a review copy: by the error's name, whoever tells it. */
import { expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import { type DiffCalls, diffAnywhere } from '../../client/diff-copy.ts';
import { errorNamed } from '../../client/errors.ts';

const told = {
  command: (name: string) => new CliError(name, 'why'),
  client: (name: string) => errorNamed(name, 'why'),
};

const compare = (refusal: Error, requestId?: string, inCopy: Error[] = []) => {
  const asked: string[] = [];
  const ids: string[] = [];
  const calls: DiffCalls = {
    diff: async ({ sandboxId, requestId: id }) => {
      asked.push(`diff ${sandboxId ?? 'here'}`);
      if (id !== undefined) ids.push(id);
      if (sandboxId === undefined) throw refusal;
      const refused = inCopy.shift();
      if (refused !== undefined) throw refused;
      return { repositories: [], warnings: [] };
    },
    rehydrate: async ({ requestId: id = '' }) => {
      asked.push('rehydrate');
      ids.push(id);
      return { sandboxId: 'copy', checkpointId: 'cp-1' } as unknown as Awaited<
        ReturnType<DiffCalls['rehydrate']>
      >;
    },
    rollback: async ({ requestId: id }) => {
      asked.push('rollback');
      ids.push(id);
    },
    freshId: (prefix) => `${prefix}-1`,
  };
  return { asked, ids, answer: diffAnywhere(calls, { sessionId: 's', from: 'm1', to: 'm2', requestId }) };
};

const HOLDS_NOT = 'because the sandbox of the session does not hold both points';
const GONE = 'because the sandbox of the session is gone or paused';

test.for([
  ['command', 'BundleMissing', HOLDS_NOT],
  ['command', 'SandboxNotFound', GONE],
  ['client', 'BundleMissing', HOLDS_NOT],
  ['client', 'SandboxNotFound', GONE],
] as const)('the %s is told %s, and why there is a copy', async ([who, name, why]) => {
  const { asked, answer } = compare(told[who](name));
  expect((await answer).warnings).toEqual([
    expect.stringContaining(`compared in the review copy copy, ${why}`),
  ]);
  expect(asked).toEqual(['diff here', 'rehydrate', 'diff copy']);
});

test('without a request id each copy is another one', async () => {
  const { ids, answer } = compare(told.client('BundleMissing'));
  await answer;
  expect(ids).toEqual(['diff-1']);
});

test('in the copy they are other requests, and the same ones when it is asked again', async () => {
  const ask = async (requestId: string) => {
    const { asked, ids, answer } = compare(told.client('BundleMissing'), requestId, [
      told.client('BundleMissing'),
    ]);
    await answer;
    expect(asked).toEqual(['diff here', 'rehydrate', 'diff copy', 'rollback', 'diff copy']);
    return ids;
  };
  const [here, copy, inCopy, rollback, after, ...more] = await ask('r');
  expect([here, rollback, more]).toEqual(['r', copy, []]);
  // Each comparison is a question of its own.
  expect(new Set([here, inCopy, after]).size).toBe(3);
  expect(await ask('r')).toEqual([here, copy, inCopy, rollback, after]);
  expect((await ask('q'))[1]).not.toBe(copy);
});

test.for(['command', 'client'] as const)('another error is the answer of the %s', async (who) => {
  const { asked, answer } = compare(told[who]('SessionNotFound'));
  await expect(answer).rejects.toThrow('why');
  expect(asked).toEqual(['diff here']);
});
