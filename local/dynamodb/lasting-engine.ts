/**
 * An engine whose process is started again when it has ended, for example because the kernel was out of
 * memory. Everything that was answered is in its file. A call that was under way fails with an error of
 * DynamoDB's own, and the caller repeats it.
 */
import { type Engine, startEngine } from './engine.ts';

interface LastingEngine extends Pick<Engine, 'operations' | 'call' | 'close'> {}

/** `lost`: called for each end that nobody asked for. */
export const startLastingEngine = async (
  path: string,
  file: string,
  lost: (reason: string) => void,
): Promise<LastingEngine> => {
  let isClosing = false;
  let current: Promise<Engine> | undefined;

  const start = async (): Promise<Engine> => {
    const engine = await startEngine(path, file);
    const forget = (reason: string): void => {
      current = undefined;
      if (!isClosing) lost(reason);
    };
    engine.ended.then(forget, forget);
    return engine;
  };
  /** If the process cannot be started, the next call tries again. */
  const running = (): Promise<Engine> => {
    current ??= start().catch((error: unknown) => {
      current = undefined;
      throw error;
    });
    return current;
  };

  const { operations } = await running();
  return {
    operations,
    call: async (operation, parameters) => {
      if (isClosing) throw new Error('DynamoDB was closed.');
      return (await running()).call(operation, parameters);
    },
    close: async () => {
      isClosing = true;
      const engine = await current?.catch(() => undefined);
      await engine?.close();
    },
  };
};
