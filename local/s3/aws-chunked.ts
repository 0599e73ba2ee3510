/**
 * Decodes the `aws-chunked` body an SDK sends when the checksum follows the content:
 * `<hex size>[;extension]CRLF <bytes> CRLF ... 0 CRLF <trailer>: <value> CRLF ... CRLF`.
 */
import { S3Error } from './errors.ts';

const MAX_LINE_BYTES = 16 * 1024;

const malformed = (what: string): S3Error => new S3Error('IncompleteBody', `The aws-chunked body ${what}.`);

const CRLF = Buffer.from('\r\n');
const EMPTY: Buffer = Buffer.alloc(0);

/** Reads lines and exact byte counts out of a stream of arbitrary chunks. */
const createReader = (source: AsyncIterable<Buffer>) => {
  const iterator = source[Symbol.asyncIterator]();
  let buffer = EMPTY;

  const more = async (): Promise<void> => {
    const next = await iterator.next();
    if (next.done === true) throw malformed('ended early');
    buffer = buffer.length === 0 ? next.value : Buffer.concat([buffer, next.value]);
  };

  const take = (length: number): Buffer => {
    const taken = buffer.subarray(0, length);
    buffer = buffer.subarray(length);
    return taken;
  };

  return {
    async line(): Promise<string> {
      let end = buffer.indexOf(CRLF);
      while (end < 0) {
        if (buffer.length > MAX_LINE_BYTES) throw malformed('has an endless header line');
        await more();
        end = buffer.indexOf(CRLF);
      }
      const text = take(end).toString('latin1');
      take(CRLF.length);
      return text;
    },
    async *bytes(length: number): AsyncGenerator<Buffer> {
      let left = length;
      while (left > 0) {
        if (buffer.length === 0) await more();
        const part = take(Math.min(left, buffer.length));
        left -= part.length;
        yield part;
      }
    },
  };
};

const chunkSize = (line: string): number => {
  const size = /^([0-9a-f]{1,12})(?:;.*)?$/i.exec(line)?.[1];
  if (size === undefined) throw malformed('has a chunk without a size');
  return Number.parseInt(size, 16);
};

const readTrailers = async (nextLine: () => Promise<string>): Promise<Map<string, string>> => {
  const trailers = new Map<string, string>();
  for (let line = await nextLine(); line !== ''; line = await nextLine()) {
    const colon = line.indexOf(':');
    if (colon < 1) throw malformed('has a malformed trailer');
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return trailers;
};

/** Yields the content and calls `onTrailers` (names in lower case) once it is complete. */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  onTrailers: (trailers: Map<string, string>) => void,
): AsyncGenerator<Buffer> {
  const reader = createReader(source);
  for (let size = chunkSize(await reader.line()); size > 0; size = chunkSize(await reader.line())) {
    yield* reader.bytes(size);
    if ((await reader.line()) !== '') throw malformed('has a chunk longer than its size');
  }
  onTrailers(await readTrailers(() => reader.line()));
}
