/** When a state of a local machine was entered: its waits are in order by it. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createExecutions } from '../../local/stepfunctions/executions.ts';
import { TOKEN_PREFIX } from '../../local/stepfunctions/tasks.ts';

const ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:m';
const waits = (more: object) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Parameters: {
    FunctionName: 'f',
    Payload: { 'entered.$': '$$.State.EnteredTime', 'token.$': '$$.Task.Token' },
  },
  ResultPath: null,
  ...more,
});

test('comes after that of the wait before, also when the clock is set back between them', async () => {
  const entered: number[] = [];
  const isThrough = Promise.withResolvers<void>();
  const executions = await createExecutions({
    machines: [
      {
        stateMachineArn: ARN,
        definition: JSON.stringify({
          StartAt: 'First',
          States: { First: waits({ Next: 'Second' }), Second: waits({ End: true }) },
        }),
        substitutions: {},
      },
    ],
    services: {
      invoke: async (_name, payload) => {
        const { entered: at, token } = payload as { entered: string; token: string };
        entered.push(Date.parse(at));
        void delay(20).then(() => {
          vi.setSystemTime(Date.now() - 60_000);
          executions.tokens.succeed(token.slice(TOKEN_PREFIX.length), {});
        });
        return { payload: {}, functionError: false };
      },
      publish: async () => ({ messageId: 'm' }),
    },
    onEnd: () => isThrough.resolve(),
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  try {
    executions.start(ARN, 'e', '{}');
    await isThrough.promise;
  } finally {
    vi.useRealTimers();
  }
  await executions.close();
  const [first = 0, second = 0] = entered;
  expect(second).toBeGreaterThan(first);
});
