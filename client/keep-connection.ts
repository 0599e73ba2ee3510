/** Keeps one connection open. The embedded cloud may start again at other ports, so that is looked for again. */
import type { Connection } from './connect.ts';

export interface KeptConnection {
  /** Opens it with the first call. */
  connection: () => Promise<Connection>;
  /** The next call looks for it anew, where it may be somewhere else by now; unless that was done since `from`. */
  reconnect: (from: Connection) => void;
  close: () => Promise<void>;
}

interface Kept {
  opening: Promise<Connection>;
  /** Once it is open. */
  connection?: Connection;
}

export const keepConnection = (open: () => Promise<Connection>): KeptConnection => {
  let kept: Kept | undefined;
  const begin = (): Kept => {
    const own: Kept = {
      opening: open().then(
        (connection) => (own.connection = connection),
        (error: unknown) => {
          if (kept === own) kept = undefined;
          throw error;
        },
      ),
    };
    return own;
  };
  return {
    connection: () => (kept ??= begin()).opening,
    reconnect: (from) => {
      // Not closed: other calls may be under way on it.
      if (from.isFound === true && kept?.connection === from) kept = undefined;
    },
    close: async () => {
      const old = kept;
      kept = undefined;
      const connection = await old?.opening.catch(() => undefined);
      connection?.close();
    },
  };
};
