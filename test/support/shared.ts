/** What all tests of a file or of a group use: opened before the first of them, and closed after the last. */
import { afterAll, beforeAll } from 'vitest';

const close = async (one: unknown): Promise<void> => {
  const { close, [Symbol.asyncDispose]: dispose } = Object(one) as Partial<
    AsyncDisposable & { close: () => unknown }
  >;
  await (dispose ?? close)?.call(one);
};

/** Hooks run in the order of these calls and, to close, in the reverse order. So one may be opened from another. */
export const shared = <T>(open: () => T | Promise<T>): (() => T) => {
  const opened: T[] = [];
  beforeAll(async () => {
    opened[0] = await open();
  });
  afterAll(() => close(opened[0]));
  return () => {
    if (opened.length === 0) throw new Error('asked for before it was opened');
    return opened[0] as T;
  };
};
