/** Who runs this process, as the machine has it: also where the environment says nothing. Undefined where no list of users knows the number. */
import { homedir, userInfo } from 'node:os';

const inList = (field: 'username' | 'homedir'): string | undefined => {
  try {
    return userInfo()[field];
  } catch {
    return undefined;
  }
};

export const userName = (): string | undefined => inList('username');

/** An empty HOME is none: it would be whatever directory the process is in. */
export const homeDirectory = (): string | undefined => homedir() || inList('homedir');
