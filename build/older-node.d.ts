/** What older-node.mjs adds to Node 20 and 22; everything else that is packed has to do with what Node 20 has. */
interface Set<T> {
  difference<U>(other: ReadonlySet<U>): Set<T>;
  union<U>(other: ReadonlySet<U>): Set<T | U>;
}

interface MapConstructor {
  groupBy<K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]>;
}

interface PromiseWithResolvers<T> {
  promise: Promise<T>;
  resolve: (value: T | PromiseLike<T>) => void;
  reject: (reason?: unknown) => void;
}

interface PromiseConstructor {
  withResolvers<T>(): PromiseWithResolvers<T>;
  try<T, A extends unknown[]>(work: (...given: A) => T | PromiseLike<T>, ...given: A): Promise<Awaited<T>>;
}

interface ArrayConstructor {
  fromAsync<T>(items: AsyncIterable<T> | Iterable<T | PromiseLike<T>>): Promise<T[]>;
}
