/**
 * Reads Git bundles as bytes, without Git: parses the header and checks that the pack behind it is whole
 * (C10).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { WalkbackError } from '../../shared/errors.ts';
import { OBJECT_ID_PATTERN } from '../../shared/ids.ts';

export interface BundleHeader {
  version: 2 | 3;
  objectFormat: 'sha1' | 'sha256';
  /** Capabilities of a version 3 bundle as written, without the leading `@`. */
  capabilities: string[];
  prerequisites: string[];
  tips: { commit: string; ref: string }[];
  /** Where the pack begins. */
  packOffset: number;
}

/**
 * Enough bytes for any header that we write: two ids and a ref, with room for the prerequisites' subjects.
 */
export const HEADER_BYTES = 64 * 1024;

const corrupt = (message: string): WalkbackError =>
  new WalkbackError('BundleCorrupt', `The bundle is damaged: ${message}.`);

const SIGNATURES: Record<string, 2 | 3> = { '# v2 git bundle': 2, '# v3 git bundle': 3 };

const readLine = (bytes: Uint8Array, start: number): { text: string; next: number } => {
  const end = bytes.indexOf(0x0a, start);
  if (end < 0) throw corrupt('its header does not end');
  return { text: Buffer.from(bytes.subarray(start, end)).toString('utf8'), next: end + 1 };
};

const objectId = (text: string, format: 'sha1' | 'sha256'): string => {
  const length = format === 'sha1' ? 40 : 64;
  if (text.length !== length || !OBJECT_ID_PATTERN.test(text))
    throw corrupt('a header line has no object id');
  return text;
};

const splitOnce = (text: string): [string, string] => {
  const space = text.indexOf(' ');
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
};

/**
 * Reads the header of a version 2 or 3 bundle. Throws `BundleCorrupt` for anything else. `bytes` may end
 * inside the pack.
 */
export const parseBundleHeader = (bytes: Uint8Array): BundleHeader => {
  const first = readLine(bytes, 0);
  const version = SIGNATURES[first.text];
  if (version === undefined) throw corrupt('it does not begin like a git bundle');
  const header: BundleHeader = {
    version,
    objectFormat: 'sha1',
    capabilities: [],
    prerequisites: [],
    tips: [],
    packOffset: 0,
  };
  let at = first.next;
  for (;;) {
    const { text, next } = readLine(bytes, at);
    at = next;
    if (text === '') break;
    if (text.startsWith('@')) {
      if (version !== 3) throw corrupt('a version 2 bundle has no capabilities');
      header.capabilities.push(text.slice(1));
      if (text === '@object-format=sha256') header.objectFormat = 'sha256';
    } else if (text.startsWith('-')) {
      header.prerequisites.push(objectId(splitOnce(text.slice(1))[0], header.objectFormat));
    } else {
      const [commit, ref] = splitOnce(text);
      if (ref === '') throw corrupt('a tip has no name');
      header.tips.push({ commit: objectId(commit, header.objectFormat), ref });
    }
  }
  header.packOffset = at;
  return header;
};

/**
 * Checks the start of the pack. With `whole`, it also checks that the trailer is the hash of everything
 * before it.
 */
const checkPack = (bytes: Uint8Array, header: BundleHeader, whole: boolean): void => {
  const pack = bytes.subarray(header.packOffset);
  const view = Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
  if (view.length < 12 || view.toString('latin1', 0, 4) !== 'PACK') throw corrupt('there is no pack in it');
  const version = view.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw corrupt(`its pack has version ${version}`);
  if (!whole) return;
  const trailer = header.objectFormat === 'sha1' ? 20 : 32;
  if (view.length < 12 + trailer) throw corrupt('its pack is cut off');
  const sum = createHash(header.objectFormat).update(view.subarray(0, -trailer)).digest();
  if (!timingSafeEqual(sum, view.subarray(-trailer))) throw corrupt('its pack does not match its checksum');
};

export interface ExpectedBundle {
  commit: string;
  prerequisites: readonly string[];
}

/** Checks that a bundle holds exactly `expected.commit` on top of exactly `expected.prerequisites`. */
export const checkBundle = (bytes: Uint8Array, expected: ExpectedBundle, whole: boolean): void => {
  const header = parseBundleHeader(bytes);
  if (header.tips.length !== 1 || header.tips[0]?.commit !== expected.commit) {
    throw corrupt(`it does not hold commit ${expected.commit}`);
  }
  const found = header.prerequisites.toSorted().join(' ');
  const wanted = [...expected.prerequisites].toSorted().join(' ');
  if (found !== wanted) {
    throw corrupt(`it needs ${found || 'nothing'} where the chain has ${wanted || 'nothing'}`);
  }
  checkPack(bytes, header, whole);
};
