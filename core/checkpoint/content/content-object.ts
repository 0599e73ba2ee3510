/**
 * The object with a checkpoint's content: parts one after the other. Each part is compressed on its own, so
 * it can be read without the others. The part of a repository is one line of JSON followed by the patch.
 * Pure.
 */
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod';
import type { FileChange, HostChange } from '../../../contract/change-answers.ts';
import { fileChange, hostChange } from '../../../contract/change-answers.ts';
import { MIB } from '../../../contract/sizes.ts';
import type { ContentPart } from '../model.ts';

export interface SaidTexts {
  text?: string;
  /** Text of the message of the operation (`forMessage`). */
  forText?: string;
  input?: string;
}

export interface RecordedChanges {
  files: FileChange[];
  host?: HostChange;
  patch: Uint8Array;
}

/**
 * Limit for one unpacked part. What was stored is smaller: we made it from what a sandbox said. As JSON, a
 * name may be six times as long.
 */
const MAX_PART_BYTES = 32 * MIB;

const saidSchema = z.object({
  text: z.string().optional(),
  forText: z.string().optional(),
  input: z.string().optional(),
});
const makeHeadSchema = () => z.object({ files: z.array(fileChange()), host: hostChange().optional() });
let headSchema: ReturnType<typeof makeHeadSchema> | undefined;

const pack = (...parts: readonly Uint8Array[]): Uint8Array => gzipSync(Buffer.concat(parts));

const unpack = (object: Uint8Array, { at, bytes }: ContentPart): Buffer =>
  gunzipSync(object.subarray(at, at + bytes), { maxOutputLength: MAX_PART_BYTES });

export const packSaid = (said: SaidTexts): Uint8Array => pack(Buffer.from(JSON.stringify(said)));

export const packChanges = ({ files, host, patch }: RecordedChanges): Uint8Array =>
  pack(Buffer.from(`${JSON.stringify({ files, ...(host && { host }) })}\n`), patch);

/** Where each part lies in the joined object. */
export const placeParts = (parts: readonly Uint8Array[]): { object: Uint8Array; places: ContentPart[] } => {
  let at = 0;
  const places = parts.map(({ length }) => {
    const place = { at, bytes: length };
    at += length;
    return place;
  });
  return { object: Buffer.concat(parts), places };
};

export const readSaid = (object: Uint8Array, part: ContentPart): SaidTexts => {
  const { text, forText, input } = saidSchema.parse(JSON.parse(unpack(object, part).toString('utf8')));
  return {
    ...(text !== undefined && { text }),
    ...(forText !== undefined && { forText }),
    ...(input !== undefined && { input }),
  };
};

const readHead = (bytes: Buffer, end: number) => {
  // Made once, and only when something is read: a checkpoint of forty repositories has as many parts.
  headSchema ??= makeHeadSchema();
  return headSchema.parse(JSON.parse(bytes.toString('utf8', 0, end)));
};

export const readChangesPart = (object: Uint8Array, part: ContentPart): RecordedChanges => {
  const bytes = unpack(object, part);
  const end = bytes.indexOf(0x0a);
  const { files, host } = readHead(bytes, end);
  return { files, ...(host && { host }), patch: bytes.subarray(end + 1) };
};

/** The list of files is mostly in so many bytes of a part. They unpack to 16 MB at most. */
const HEAD_BYTES = 16 * 1024;

/** The files alone, without unpacking a large patch. */
export const readChangedFiles = (object: Uint8Array, part: ContentPart): FileChange[] => {
  const { at, bytes } = part;
  const start = gunzipSync(object.subarray(at, at + Math.min(bytes, HEAD_BYTES)), {
    maxOutputLength: MAX_PART_BYTES,
    // What was cut off is not missed.
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  const end = start.indexOf(0x0a);
  return end === -1 ? readChangesPart(object, part).files : readHead(start, end).files;
};
