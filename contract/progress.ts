/** What is counted of work that takes long, for people who wait. */
import * as z from 'zod';

/** What the program in the sandbox counts (`sandbox/src/wire/progress.rs`). */
export const SANDBOX_WORK = [
  'files',
  'bytes',
  'packed',
  'download',
  'unpacked',
  'written',
  'verified',
] as const;

export const work = () =>
  z
    .enum([...SANDBOX_WORK, 'upload'])
    .describe(
      'files, written, verified: files that are read, written, or read back to prove what was written; bytes: of large files that are read or written; packed, upload, download, unpacked: bytes of bundles that are made, sent, fetched, or taken in',
    );
export type Work = z.infer<ReturnType<typeof work>>;
