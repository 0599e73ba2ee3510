/** The program of the thread of own-thread.ts: it reads one module, and calls its handlers. */
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { takeClaim } from './claim.ts';
import { type Handler, handlerIn, loadModule } from './handler.ts';
import { noteLoadedFiles } from './loaded-files.ts';
import { contentOf } from './module-content.ts';
import { type Fault, faultOf, faultOutsideOfCalls, thrownResult } from './own-faults.ts';
import type { Asked, Told, TurnCounter } from './own-thread.ts';
import { runHandler } from './run-handler.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- own-thread.ts makes it
const turns = workerData as TurnCounter;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
const tell = (told: Told): void => parentPort?.postMessage(told);

/** Reported when a call begins, and again when it is done, because a function may import at any time. */
const loadedFiles = noteLoadedFiles();

let isFailing = false;

/** Node reports this error too, but over another channel, where it may arrive after the end of the thread. */
process.on('uncaughtExceptionMonitor', (error) => {
  // The function's own listener catches it.
  if (process.listenerCount('uncaughtException') > 0) return;
  isFailing = true;
  tell({ tell: 'exits', fault: faultOutsideOfCalls(error) });
});

/** A thread that exits says nothing: only its exit code would be seen. */
const exit = process.exit.bind(process);
process.exit = (code) => {
  const { message, stack } = new Error(`it called process.exit(${code ?? ''})`);
  if (!isFailing) tell({ tell: 'exits', fault: { reason: message, stack } });
  return exit(code);
};

interface Loaded {
  handler: Handler;
  timeoutMs: number;
}

let loading: Promise<Loaded> | undefined;

/** A module is loaded once, and lives as long as its thread. */
const load = (entry: string, exported: string | undefined): Promise<Loaded> =>
  (loading ??= loadModule(entry).then((exports) => ({
    handler: handlerIn(exports, entry, exported),
    timeoutMs: contentOf(exports).timeoutMs,
  })));

const invoke = async ({ id, claim, fn, event, requestId }: Extract<Asked, { ask: 'invoke' }>) => {
  if (!takeClaim(claim, threadId)) return;
  tell({ tell: 'taken', id });
  let fault: Fault | undefined;
  const failed = (thrown: unknown) => {
    fault = faultOf(thrown);
    return thrownResult(thrown);
  };
  let isLoaded = false;
  try {
    const { handler, timeoutMs } = await load(fn.entry, fn.exported);
    isLoaded = true;
    tell({ tell: 'begun', id, timeoutMs, files: loadedFiles() });
    const parsed: unknown = JSON.parse(event);
    const result = await runHandler({ ...fn, timeoutMs }, async () => handler, parsed, requestId, failed);
    tell({ tell: 'done', id, result, fault, isLoaded, files: loadedFiles() });
  } catch (error) {
    tell({ tell: 'done', id, result: failed(error), fault, isLoaded, files: loadedFiles() });
  }
};

const read = async (entry: string): Promise<void> => {
  try {
    tell({ tell: 'content', content: contentOf(await loadModule(entry)) });
  } catch (error) {
    tell({ tell: 'unreadable', fault: faultOf(error) });
  }
};

const answer = (asked: Asked): Promise<void> | undefined => {
  switch (asked.ask) {
    case 'turn':
      Atomics.store(turns, 0, asked.turn);
      tell({ tell: 'turned', turn: asked.turn });
      return undefined;
    case 'read':
      return read(asked.entry);
    case 'invoke':
      return invoke(asked);
  }
};

// oxlint-disable-next-line typescript/no-misused-promises -- they tell their errors
parentPort?.on('message', answer);
