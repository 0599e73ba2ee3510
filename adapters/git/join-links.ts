/**
 * Small links of a chain as one bundle, so that the sandbox starts one process for them instead of one each. Pure.
 *
 * A pack is a header with the number of its objects, the objects one after the other, and a checksum (gitformat-pack).
 * An object may build on one at a distance before it in the same pack, or on one named by its id: both hold where the
 * objects of several packs follow each other. But content that comes back is in more than one link, so a joined pack may
 * hold an object twice, and `git index-pack` refuses that or, worse, keeps a pack whose deltas lead in a circle. So only
 * what may become loose objects is joined, where twice is once. The sandbox keeps many of them as a pack when it finds none
 * of them twice (sandbox/shared/incoming.sh). With the joined bundle go the places to cut it at, to unpack each link by
 * itself if git does not take it.
 */
import { createHash } from 'node:crypto';
import { type BundleHeader, parseBundleHeader } from '../../core/checkpoint/capture/bundle.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';

const PACK_HEADER_BYTES = 12;
const HASH_BYTES = { sha1: 20, sha256: 32 };

export interface LinkLimits {
  /** Links up to this size, with fewer objects than that, become loose objects. */
  smallBytes: number;
  /** As `fetch.unpackLimit` of git. */
  smallObjects: number;
}

export const LINK_LIMITS: LinkLimits = { smallBytes: 64 * 1024, smallObjects: 100 };

/** A bundle as it lies in the sandbox, and how it is unpacked there. */
export interface IncomingBundle extends BundleSource {
  how: 'base' | 'link' | 'small' | 'many';
  /** Where a joined bundle is cut: a line for each of its links. */
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

/** For `printf` of the shell. */
const escaped = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/**
 * One bundle that needs what the first needs and has the tips of the last, and a line for each link: offset and size of its
 * objects, and what its own pack has before and after them. The bytes are known to be whole.
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
      commit: last.commit,
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

/** The bundles of one repository, in order, with neighbouring small links that travel through the function as one. */
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
