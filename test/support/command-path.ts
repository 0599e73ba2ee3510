import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** A directory may be called as a command is. */
const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** Where a shell finds the command. */
export const commandPath = (name: string, path = process.env['PATH'] ?? ''): string | undefined =>
  path
    .split(':')
    .map((directory) => join(directory, name))
    .find(isProgram);
