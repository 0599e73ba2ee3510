/**
 * How far a stream has been delivered, stored on disk. A restart continues from there (at least once, never
 * less).
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';

const positionSchema = z.object({ streamArn: z.string(), shardId: z.string(), sequenceNumber: z.string() });
export type Position = z.infer<typeof positionSchema>;

export interface PositionFile {
  read(): Promise<Position | undefined>;
  write(position: Position): Promise<void>;
}

export const openPosition = (file: string): PositionFile => ({
  read: async () => {
    try {
      return positionSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    } catch {
      // There is none yet, or a crash cut it off. Starts from the beginning, which delivers twice but loses
      // nothing.
      return undefined;
    }
  },
  write: async (position) => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const temporary = `${file}.new`;
    await writeFile(temporary, JSON.stringify(position), { mode: 0o600 });
    await rename(temporary, file);
  },
});
