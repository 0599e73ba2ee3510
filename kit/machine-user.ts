/**
 * The user who runs this process, as the machine knows it, even when the environment does not say. Undefined
 * when no list of users has the user id.
 */
import { homedir, userInfo } from 'node:os';

const known = (look: () => string): string | undefined => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

export const userName = (): string | undefined => known(() => userInfo().username);

/** An empty HOME counts as none: it would mean whatever directory the process is in. */
export const homeDirectory = (): string | undefined => known(() => homedir() || userInfo().homedir);
