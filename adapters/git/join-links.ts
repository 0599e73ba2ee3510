/**
 * Joins small links of a chain into one bundle, so that the sandbox starts one process for all instead of one
 * for each. Pure.
 *
 * A pack is a header with the number of its objects, the objects one after the other, and a checksum
 * (gitformat-pack). An object may build on another at a distance before it in the same pack, or on one named
 * by its id. Both still work when the objects of several packs follow each other.
 *
 * But the same content may be in more than one link, so a joined pack may hold an object twice. `git
 * index-pack` refuses such a pack or, worse, keeps a pack whose deltas form a circle. So only links that may
 * become loose objects are joined, because there an object that comes twice is stored once. When there are
 * many objects and the sandbox finds none of them twice, it keeps them as a pack
 * (sandbox/src/bundle/small.rs).
 *
 * The joined bundle comes with the places at which to cut it, so that each link can be unpacked by itself if
 * git refuses the joined one.
 */
import { createHash } from 'node:crypto';
import { type BundleHeader, parseBundleHeader } from '../../core/checkpoint/capture/bundle.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';

const PACK_HEADER_BYTES = 12;
const HASH_BYTES = { sha1: 20, sha256: 32 };

export interface LinkLimits {
  /** Links of at most this size, and with fewer objects than `smallObjects`, become loose objects. */
  smallBytes: number;
  /** The same as git's `fetch.unpackLimit`. */
  smallObjects: number;
}

export const LINK_LIMITS: LinkLimits = { smallBytes: 64 * 1024, smallObjects: 100 };

/** A bundle as it lies in the sandbox, and how it is unpacked there. */
export interface IncomingBundle extends BundleSource {
  how: 'base' | 'link' | 'small' | 'many';
  /** Where a joined bundle is cut: one line for each of its links. */
  cuts?: { sha256: string; text: string };
}

interface Part {
  header: BundleHeader;
  start: Buffer;
  objects: Buffer;
  trailer: Buffer;
}

const hashOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

const partOf = (bytes: Uint8Array): Part => {
  const header = parseBundleHeader(bytes);
  const pack = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + header.packOffset,
    bytes.byteLength - header.packOffset,
  );
  const hashBytes = HASH_BYTES[header.objectFormat];
  return {
    header,
    start: pack.subarray(0, PACK_HEADER_BYTES),
    objects: pack.subarray(PACK_HEADER_BYTES, -hashBytes),
    trailer: pack.subarray(-hashBytes),
  };
};

const countOf = ({ start }: Part): number => start.readUInt32BE(8);

const headerText = (first: BundleHeader, last: BundleHeader): string =>
  [
    `# v${first.version} git bundle`,
    ...first.capabilities.map((name) => `@${name}`),
    ...first.prerequisites.map((id) => `-${id}`),
    ...last.tips.map(({ commit, ref }) => `${commit} ${ref}`),
    '\n',
  ].join('\n');

/** Bytes as text, each `\xNN`. */
const escaped = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/**
 * Makes one bundle with the prerequisites of the first and the tips of the last, and one line for each link:
 * offset and size of its objects, and what its own pack has before and after them. The bytes were checked to
 * be complete.
 */
export const joinBundles = (bundles: readonly Uint8Array[]): { bytes: Buffer; cuts: string } => {
  const parts = bundles.map((bytes) => partOf(bytes));
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) throw new RangeError('there is nothing to join');
  const start = Buffer.alloc(PACK_HEADER_BYTES);
  start.write('PACK');
  start.writeUInt32BE(2, 4);
  start.writeUInt32BE(
    parts.reduce((sum, part) => sum + countOf(part), 0),
    8,
  );
  const pack = Buffer.concat([start, ...parts.map(({ objects }) => objects)]);
  const checksum = createHash(first.header.objectFormat).update(pack).digest();
  const header = Buffer.from(headerText(first.header, last.header));
  let offset = header.length + PACK_HEADER_BYTES;
  const cuts = parts.map((part) => {
    const line = `${offset} ${part.objects.length} ${escaped(part.start)} ${escaped(part.trailer)}\n`;
    offset += part.objects.length;
    return line;
  });
  return { bytes: Buffer.concat([header, pack, checksum]), cuts: cuts.join('') };
};

const joined = (
  links: readonly (IncomingBundle & { bytes: Uint8Array })[],
  { smallObjects }: LinkLimits,
): IncomingBundle[] => {
  const last = links.at(-1);
  if (last === undefined || links.length === 1) return [...links];
  const { bytes, cuts: text } = joinBundles(links.map((link) => link.bytes));
  const objects = countOf(partOf(bytes));
  return [
    {
      kind: 'link',
      how: objects < smallObjects ? 'small' : 'many',
      sha256: hashOf(bytes),
      sizeBytes: bytes.byteLength,
      bytes,
      cuts: { sha256: hashOf(text), text },
    },
  ];
};

const isSmall = ({ kind, sizeBytes, bytes }: BundleSource, limits: LinkLimits): boolean =>
  kind === 'link' &&
  sizeBytes <= limits.smallBytes &&
  (bytes === undefined || countOf(partOf(bytes)) < limits.smallObjects);

/**
 * The bundles of one repository, in order. Neighbouring small links that travel through the function are
 * joined.
 */
export const joinLinks = (
  bundles: readonly BundleSource[],
  limits: LinkLimits = LINK_LIMITS,
): IncomingBundle[] => {
  const result: IncomingBundle[] = [];
  let run: (IncomingBundle & { bytes: Uint8Array })[] = [];
  for (const bundle of bundles) {
    const how = isSmall(bundle, limits) ? 'small' : bundle.kind;
    const { bytes } = bundle;
    if (how === 'small' && bytes !== undefined) {
      run.push({ ...bundle, how, bytes });
    } else {
      result.push(...joined(run, limits), { ...bundle, how });
      run = [];
    }
  }
  return [...result, ...joined(run, limits)];
};
