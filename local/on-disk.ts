/**
 * What is written is on disk before it counts. Handles of Yarn's Plug'n'Play stand in for those of Node in the whole process: they have no
 * `sync`, and write texts and buffers only.
 */
import { fsync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';

const syncDescriptor = promisify(fsync);

export const syncFile = ({ fd }: FileHandle): Promise<void> => syncDescriptor(fd);

export const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await syncFile(handle);
  } finally {
    await handle.close();
  }
};

export const writeAll = async (handle: FileHandle, content: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const piece of content) await handle.appendFile(piece);
};
