/**
 * Keeps one connection open. The embedded cloud may start again on other ports, so such a connection is
 * looked for again.
 */
import type { Connection } from './connect.ts';

export interface KeptConnection {
  /** Opens the connection with the first call. */
  connection: () => Promise<Connection>;
  /**
   * Makes the next call look for the connection again, when it may be somewhere else by now. Does nothing if
   * that was done since `from`.
   */
  reconnect: (from: Connection) => void;
  close: () => Promise<void>;
}

interface OpenedConnection {
  opening: Promise<Connection>;
  /** Set once the connection is open. */
  connection?: Connection;
}

export const keepConnection = (open: () => Promise<Connection>): KeptConnection => {
  let kept: OpenedConnection | undefined;
  const begin = (): OpenedConnection => {
    const own: OpenedConnection = {
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
      // Not closed, because other calls may be using it.
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
