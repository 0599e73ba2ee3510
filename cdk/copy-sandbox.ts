/** What a bundle needs of the folder `sandbox`: the prebuilt program, which is read at run time. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT } from './bundle-options.ts';

const PREBUILT = 'prebuilt';

export const copySandbox = (directory: string): Promise<void> =>
  cp(join(PROJECT, 'sandbox', PREBUILT), join(directory, PREBUILT), { recursive: true });
