import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../../local/template.ts';

export interface Memory {
  storedMiB: number;
  /** Peak beyond what the process had before, after the capture and after the restore. */
  capture: number;
  restore: number;
}

/** Captures and restores that many repositories of that size in a process of its own. */
export const memoryOf = async (count: number, sizeBytes: number, carriedBytes: number): Promise<Memory> => {
  const script = join(PROJECT, 'test/support/memory-child.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    String(count),
    String(sizeBytes),
    String(carriedBytes),
  ]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Memory;
};
