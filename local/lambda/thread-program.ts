/** What runs in the thread of own-thread.ts: it reads modules and calls their handlers. */
import { parentPort } from 'node:worker_threads';
import { type Handler, loadHandler, loadModule } from './handler.ts';
import type { Asked, ModuleContent, Told } from './own-thread.ts';
import { runHandler } from './run-handler.ts';

const warm = new Map<string, Promise<Handler>>();

const load = (entry: string, instance: string, exported: string | undefined): Promise<Handler> => {
  const key = JSON.stringify([entry, instance, exported]);
  const known = warm.get(key);
  if (known !== undefined) return known;
  const handler = loadHandler(entry, instance, exported);
  warm.set(key, handler);
  // A module that cannot start is tried again by the next invocation, as deployed.
  handler.catch(() => warm.delete(key));
  return handler;
};

const contentOf = (exports: Readonly<Record<string, unknown>>): ModuleContent => {
  const limit = exports['timeoutSeconds'];
  return {
    functions: Object.keys(exports).filter((name) => typeof exports[name] === 'function'),
    // What is no number is refused, and need not travel.
    timeoutSeconds: limit === undefined || typeof limit === 'number' ? limit : 'no number',
  };
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
const tell = (told: Told): void => parentPort?.postMessage(told);

const answer = async (id: number, asked: Asked): Promise<unknown> => {
  switch (asked.ask) {
    case 'turn':
      return undefined;
    case 'read':
      return contentOf(await loadModule(asked.entry, asked.instance));
    case 'invoke': {
      const { fn, instance, event, requestId } = asked;
      tell({ id, tell: 'begun' });
      return runHandler(fn, () => load(fn.entry, instance, fn.exported), JSON.parse(event), requestId);
    }
  }
};

parentPort?.on('message', ({ id, asked }: { id: number; asked: Asked }) => {
  answer(id, asked).then(
    (done) => tell({ id, tell: 'done', answer: done }),
    (error: unknown) =>
      tell({ id, tell: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
});
