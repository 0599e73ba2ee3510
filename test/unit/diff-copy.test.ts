/** Where the sandbox does not hold both points, whoever compares takes a review copy: by the error's name, whoever tells it. */
import { expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import { type DiffCalls, diffAnywhere } from '../../client/diff-copy.ts';
import { errorNamed } from '../../client/errors.ts';

const told = {
  command: (name: string) => new CliError(name, 'why'),
  client: (name: string) => errorNamed(name, 'why'),
};

const compare = (refusal: Error, requestId?: string) => {
  const asked: string[] = [];
  const calls: DiffCalls = {
    diff: async ({ sandboxId, requestId }) => {
      asked.push(`diff ${sandboxId ?? 'here'}${requestId === undefined ? '' : ` ${requestId}`}`);
      if (sandboxId === undefined) throw refusal;
      return { repositories: [], warnings: [] };
    },
    rehydrate: async () => {
      asked.push('rehydrate');
      return { sandboxId: 'copy', checkpointId: 'cp-1' } as unknown as Awaited<
        ReturnType<DiffCalls['rehydrate']>
      >;
    },
    rollback: async () => undefined,
    freshId: (prefix) => `${prefix}-1`,
  };
  return { asked, answer: diffAnywhere(calls, { sessionId: 's', from: 'm1', to: 'm2', requestId }) };
};

test.for([
  ['command', 'BundleMissing'],
  ['command', 'SandboxNotFound'],
  ['client', 'BundleMissing'],
  ['client', 'SandboxNotFound'],
] as const)('the %s is told %s', async ([who, name]) => {
  const { asked, answer } = compare(told[who](name));
  expect((await answer).warnings).toEqual([expect.stringContaining('compared in the review copy copy')]);
  expect(asked).toEqual(['diff here', 'rehydrate', 'diff copy']);
});

test('in the copy it is another request', async () => {
  const { asked, answer } = compare(told.client('BundleMissing'), 'r');
  await answer;
  expect(asked).toEqual(['diff here r', 'rehydrate', 'diff copy']);
});

test.for(['command', 'client'] as const)('another error is the answer of the %s', async (who) => {
  const { asked, answer } = compare(told[who]('SessionNotFound'));
  await expect(answer).rejects.toThrow('why');
  expect(asked).toEqual(['diff here']);
});
