import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Tools } from './loop.ts';

const input = z.object({ path: z.string(), text: z.string() });

export const fileTools = (directory: string): Tools => ({
  write_file: {
    execute: async (given) => {
      const { path, text } = input.parse(given);
      await writeFile(join(directory, path), text);
      return `wrote ${path}`;
    },
  },
});
