/** Who runs this process, as the machine has it: also without $USER, and nobody where no list of users knows the number. */
import { userInfo } from 'node:os';

export const userName = (): string | undefined => {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
};
