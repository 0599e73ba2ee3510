/**
 * A console over real functions, repositories and sagas, for the browser tests: an agent that fixed prices in two repositories
 * and refunded an order, a message that was rolled back, approvals that wait, and a compensation that failed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConsole } from '../../console/app.ts';
import type { Ask } from '../../console/context.ts';
import { type Endpoint, listenPages } from '../../local/listen.ts';
import { FunctionFailure } from './cloud.ts';
import { addOrder, type SagaCloud, startSagaCloud } from './saga-cloud.ts';
import { openWorld, shell, type World } from './world.ts';

export const HOSTILE = "<img src=x onerror='document.title=1'>.txt";
export const MAIL = { to: 'ada@example.com', refund: 're_1', ticket: 't_1', entry: '<b>je_1</b>' };

const PRICE = (rounding: string): string => `import { Money } from './money.ts';

/** What a customer pays, with tax. */
export const total = (items: readonly Item[], taxRate: number): Money => {
  const net = items.reduce((sum, { price, count }) => sum + price * count, 0);
  return Money.of(${rounding});
};
`;

const PAGE = (label: string): string => `<!doctype html>
<title>Checkout</title>
<button class="pay" disabled>${label}</button>
`;

class Failure extends Error {}

/** As the command tells them. */
const named = async (asked: Promise<unknown>): Promise<unknown> => {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof FunctionFailure)) throw error;
    const failure = new Failure(error.message.replace(`${error.errorType}: `, ''));
    failure.name = error.errorType;
    throw failure;
  }
};

interface Said {
  role: string;
  title: string;
  text: string;
}

export interface ConsoleWorld {
  sagas: SagaCloud;
  world: World;
  invoke: (name: string, input: unknown) => Promise<Record<string, unknown>>;
  /** A console of its own for one person. */
  serve(by: string, patienceMs?: number, isOneProcess?: boolean): Promise<Endpoint>;
  /** An interactive saga that waits for an approval. */
  asking(sagaId: string): Promise<void>;
  write: (path: string, text: string) => void;
  /** The end of a message: what was done since the checkpoint before is its work. */
  checkpoint: (messageId: string, said: Said, tool?: object) => Promise<string>;
  /** Before a tool call of a message. */
  call: (messageId: string, said: Said, tool: object) => Promise<void>;
  close(): Promise<void>;
}

export const startConsoleWorld = async (): Promise<ConsoleWorld> => {
  const sagas = await startSagaCloud();
  const { cloud, server } = sagas;
  const world = await openWorld(cloud, {
    paths: ['api', 'web'],
    settings: { metadata: { agent: 'claude-code' }, exclude: ['secret.env'] },
  });
  const closing = new AsyncDisposableStack();
  let calls = 0;
  return {
    sagas,
    world,
    invoke: (name, input) => cloud.invoke(name, input),
    serve: async (by, patienceMs, isOneProcess) => {
      let origin = '';
      const app = createConsole({
        ask: ((name: string, input: unknown) => named(cloud.invoke(name, input))) as Ask,
        failureOf: (error) =>
          error instanceof Error
            ? { name: error.name, message: error.message }
            : { name: 'InternalError', message: String(error) },
        viewer: { name: by, isVerified: false },
        by,
        token: 'in',
        origin: () => origin,
        patienceMs,
        isOneProcess,
      });
      const endpoint = await listenPages(app);
      closing.defer(() => endpoint.close());
      origin = endpoint.url;
      return endpoint;
    },
    asking: async (sagaId) => {
      addOrder(server, sagaId);
      await cloud.invoke('start-saga', { sagaId, interactive: { onIdle: 'unwind' }, requestedBy: 'agent-7' });
      const mail = { sagaId, stepId: 'mail', tool: 'send_customer_confirmation', arguments: MAIL };
      await cloud.invoke('submit-step', mail);
    },
    write: (path, text) => writeFileSync(join(world.root, path), text),
    checkpoint: async (messageId, message, tool) => {
      calls += 1;
      const input = {
        sessionId: world.sessionId,
        messageId,
        toolExecutionId: `call-${calls}`,
        reason: 'before-tool',
      };
      const { checkpointId } = await cloud.invoke('checkpoint', { ...input, message, ...(tool && { tool }) });
      return String(checkpointId);
    },
    call: async (messageId, message, tool) => {
      calls += 1;
      const input = { sessionId: world.sessionId, forMessageId: messageId, toolExecutionId: `call-${calls}` };
      await cloud.invoke('checkpoint', { ...input, reason: 'before-tool', message, tool });
    },
    close: async () => {
      await closing.disposeAsync();
      await sagas.close();
    },
  };
};

/** A refund of the session, asked for by one of its messages. */
export const refund = async (
  { sagas, world }: ConsoleWorld,
  sagaId: string,
  messageId: string,
): Promise<void> => {
  addOrder(sagas.server, sagaId);
  await sagas.cloud.invoke('start-saga', {
    sagaId,
    definition: { name: 'refund' },
    input: { orderId: sagaId },
    sessionId: world.sessionId,
    messageId,
    requestedBy: 'agent-7',
  });
  await sagas.observe(sagaId);
};

/** A refund whose undo fails too, so a person has to look. */
export const failedRefund = async (world: ConsoleWorld, sagaId: string, messageId: string): Promise<void> => {
  const { faults } = world.sagas;
  faults.refuseMail = true;
  faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  await refund(world, sagaId, messageId);
  faults.refuseMail = false;
  faults.closedPeriod = () => false;
};

/** What an agent did before anybody looked. */
export const playStory = async (console: ConsoleWorld): Promise<void> => {
  const { world, write, checkpoint, call } = console;
  await checkpoint('msg-1', {
    role: 'user',
    title: 'Fix the rounding of prices',
    text: 'Customers are charged one cent too much.\nFix it in api, and say so on the page.',
  });
  const wrote = {
    role: 'assistant',
    title: 'Wrote the price function',
    text: 'I wrote total() and the page.',
  };
  await call('msg-2', wrote, { name: 'Read', input: { file_path: 'api/money.ts' } });
  await call('msg-2', wrote, { name: 'Write', input: { file_path: 'api/price.ts', content: 'total' } });
  write('api/price.ts', PRICE('Math.ceil(net * (1 + taxRate))'));
  write(`api/${HOSTILE}`, `<script>document.title = '1'</script>\n`);
  await call('msg-2', wrote, { name: 'Write', input: { file_path: 'web/page.html', content: 'pay' } });
  write('web/page.html', PAGE('Pay'));
  await call('msg-2', wrote, { name: 'Bash', input: { command: 'npm test' } });
  await checkpoint('msg-2', wrote);
  const rounded = {
    role: 'assistant',
    title: `Rounded, not up ${HOSTILE}`,
    text: `Half a cent is rounded now. ${HOSTILE}`,
  };
  await call('msg-3', rounded, { name: 'Edit', input: { file: 'api/price.ts', text: HOSTILE } });
  write('api/price.ts', PRICE('Math.round(net * (1 + taxRate))'));
  await call('msg-3', rounded, { name: 'Edit', input: { file_path: 'web/page.html' } });
  write('web/page.html', PAGE('Pay now'));
  await call('msg-3', rounded, {
    name: 'Bash',
    input: { command: `git switch -qc fix-rounding && git commit -am "Round prices" # ${HOSTILE}` },
  });
  shell(world.root, 'cd api && git switch -qc fix-rounding && git add -A && git commit -qm "Round prices"');
  await checkpoint('msg-3', rounded);
};
