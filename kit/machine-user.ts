/** Who runs this process, as the machine has it: also where the environment says nothing. Undefined where no list of users knows the number. */
import { homedir, userInfo } from 'node:os';

const known = (look: () => string): string | undefined => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

export const userName = (): string | undefined => known(() => userInfo().username);

/** An empty HOME is none: it would be whatever directory the process is in. */
export const homeDirectory = (): string | undefined => known(() => homedir() || userInfo().homedir);
