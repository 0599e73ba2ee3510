/** Keeps one connection open. The embedded cloud may start again at other ports, so that is looked for again. */
import type { Connection } from './connect.ts';

export interface KeptConnection {
  /** Opens it with the first call. */
  connection: () => Promise<Connection>;
  /** The next call looks for it anew, where it may be somewhere else by now. */
  reconnect: () => Promise<void>;
  close: () => Promise<void>;
}

export const keepConnection = (open: () => Promise<Connection>): KeptConnection => {
  let opening: Promise<Connection> | undefined;
  const tryOpen = async (): Promise<Connection> => {
    try {
      return await open();
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  return {
    connection: () => (opening ??= tryOpen()),
    reconnect: async () => {
      // Not closed: other calls may be under way on it.
      if ((await opening)?.isFound === true) opening = undefined;
    },
    close: async () => {
      const old = opening;
      opening = undefined;
      (await old)?.close();
    },
  };
};
