/**
 * Turns the bytes of records of changes into what is kept of them. A record that cannot be read is reported
 * and fails nothing.
 */
import { constants, gunzipSync } from 'node:zlib';
import { MIB } from '../../contract/sizes.ts';
import type { ClaimedChanges } from '../../core/checkpoint/ports/capture.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { type AnnouncedChanges, CHANGES_LIMITS, type RecordFile } from './announced.ts';
import { readGitRecord } from './git-record.ts';

/** Most bytes that git may write for one repository (sandbox/src/capture/record.rs), and some reserve. */
const MAX_TEXT_BYTES = 4 * MIB;

const UNREADABLE = 'what the sandbox sent of it cannot be read';

/** `25 files changed, 3 insertions(+), 1 deletion(-)`. The last two parts are absent when they are 0. */
const totalsOf = (text: string | undefined): ClaimedChanges['total'] => {
  const number = (word: string): number | null => {
    const digits = new RegExp(String.raw`(\d{1,12}) ${word}`).exec(text ?? '')?.[1];
    return digits === undefined ? null : Number(digits);
  };
  const files = number('file');
  if (files === null) return { files, added: null, deleted: null };
  return { files, added: number('insertion') ?? 0, deleted: number('deletion') ?? 0 };
};

/** The text may have been cut while it was compressed. */
const unpack = (bytes: Uint8Array, isPacked: boolean): Uint8Array =>
  isPacked
    ? gunzipSync(bytes, { maxOutputLength: MAX_TEXT_BYTES, finishFlush: constants.Z_SYNC_FLUSH })
    : bytes;

const changesOf = (announced: AnnouncedChanges, bytes: Uint8Array | undefined): ClaimedChanges => {
  const { path, host, isCut, totals, file } = announced;
  const empty = { path, files: [], patch: new Uint8Array(), isCut, ...(host && { host }) };
  const none = { files: null, added: null, deleted: null };
  const because = (problem: string | undefined) => problem !== undefined && { problem };
  if (file === undefined) {
    const total = announced.problem === undefined ? { files: 0, added: 0, deleted: 0 } : none;
    return { ...empty, total, ...because(announced.problem) };
  }
  if (bytes === undefined) return { ...empty, total: none, ...because(announced.problem ?? UNREADABLE) };
  try {
    const record = readGitRecord(unpack(bytes, file.isPacked));
    const isPart = isCut || !record.isWholeList;
    const total = !record.isWholeList && totals === undefined ? none : record.total;
    return {
      ...empty,
      files: record.files,
      total: totals === undefined ? total : totalsOf(totals),
      patch: record.patch,
      isCut: isPart,
      ...because(announced.problem),
    };
  } catch {
    return { ...empty, total: none, ...because(UNREADABLE) };
  }
};

const isHonest = (files: readonly RecordFile[]): boolean =>
  files.every(({ sizeBytes }) => Number.isSafeInteger(sizeBytes) && sizeBytes >= 0) &&
  files.every(({ sizeBytes }) => sizeBytes <= CHANGES_LIMITS.each) &&
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) <= CHANGES_LIMITS.all;

const cutFiles = (
  files: readonly RecordFile[],
  bytes: Uint8Array,
): [RecordFile, Uint8Array | undefined][] => {
  let at = 0;
  return files.map((file) => {
    const start = at;
    at += file.sizeBytes;
    return [file, at <= bytes.length ? bytes.subarray(start, at) : undefined];
  });
};

/**
 * `rest`: the bytes that follow the bundles in the answer. Never throws, because the capture does not need
 * the records.
 */
export const readChanges = async (
  sandbox: Pick<ExecutionAdapter, 'readFile'>,
  directory: string,
  announced: readonly AnnouncedChanges[],
  rest: Uint8Array,
): Promise<ClaimedChanges[]> => {
  const files = announced.flatMap(({ file }) => file ?? []);
  if (!isHonest(files)) return announced.map((one) => changesOf(one, undefined));
  const carried = (carry: RecordFile['carry']) => files.filter((file) => file.carry === carry);
  const apart = carried('file');
  const size = apart.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let bytes: Uint8Array = new Uint8Array();
  try {
    if (size > 0) bytes = await sandbox.readFile(`${directory}/changes`, size);
  } catch (error) {
    if (!isWalkbackError(error)) throw error;
  }
  const found = new Map([...cutFiles(carried('inline'), rest), ...cutFiles(apart, bytes)]);
  return announced.map((one) => changesOf(one, one.file && found.get(one.file)));
};
