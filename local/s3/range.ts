import { S3Error } from './errors.ts';

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** The bytes a `Range` header asks for; undefined means the whole object (absent, or a form S3 ignores). */
export const parseRange = (header: string | undefined, sizeBytes: number): ByteRange | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const from = match[1] === '' ? Math.max(0, sizeBytes - Number(match[2])) : Number(match[1]);
  const to = match[1] === '' || match[2] === '' ? sizeBytes - 1 : Number(match[2]);
  if (match[1] !== '' && match[2] !== '' && from > to) return undefined;
  if (from >= sizeBytes || to < from)
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable.');
  return { start: from, end: Math.min(to, sizeBytes - 1) };
};
