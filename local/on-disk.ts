/**
 * Makes sure that what is written is on disk before it counts. Yarn's Plug'n'Play replaces Node's file
 * handles in the whole process: its handles have no `sync`, and write only texts and buffers.
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
