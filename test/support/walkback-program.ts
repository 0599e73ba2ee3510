/** The command of this checkout as a program that a shell finds by its name. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shellWord } from '../../cli/options.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/walkback.mjs');

/** Makes `directory` with the program `walkback` in it. */
export const makeWalkbackProgram = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true });
  const text = `#!/bin/sh\nexec ${shellWord(process.execPath)} ${shellWord(LAUNCHER)} "$@"\n`;
  await writeFile(join(directory, 'walkback'), text, { mode: 0o755 });
};
