/**
 * Many links of a chain as one bundle, so that the sandbox starts one process for them instead of one each. Pure.
 *
 * A pack is a header with the number of its objects, the objects one after the other, and a checksum (gitformat-pack).
 * An object may build on one at a distance before it in the same pack, or on one named by its id: both hold where the
 * objects of several packs follow each other.
 */
import { createHash } from 'node:crypto';
import { type BundleHeader, parseBundleHeader } from '../../core/checkpoint/capture/bundle.ts';
import type { BundleSource } from '../../core/checkpoint/ports/restore.ts';

const PACK_HEADER_BYTES = 12;
const HASH_BYTES = { sha1: 20, sha256: 32 };

const headerText = (first: BundleHeader, last: BundleHeader): string =>
  [
    `# v${first.version} git bundle`,
    ...first.capabilities.map((name) => `@${name}`),
    ...first.prerequisites.map((id) => `-${id}`),
    ...last.tips.map(({ commit, ref }) => `${commit} ${ref}`),
    '\n',
  ].join('\n');

/** One bundle that needs what the first needs and has the tips of the last. Their bytes are known to be whole. */
export const joinBundles = (bundles: readonly Uint8Array[]): Buffer => {
  const parts = bundles.map((bytes) => {
    const header = parseBundleHeader(bytes);
    const pack = Buffer.from(
      bytes.buffer,
      bytes.byteOffset + header.packOffset,
      bytes.byteLength - header.packOffset,
    );
    return {
      header,
      count: pack.readUInt32BE(8),
      objects: pack.subarray(PACK_HEADER_BYTES, -HASH_BYTES[header.objectFormat]),
    };
  });
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) throw new RangeError('there is nothing to join');
  const start = Buffer.alloc(PACK_HEADER_BYTES);
  start.write('PACK');
  start.writeUInt32BE(2, 4);
  start.writeUInt32BE(
    parts.reduce((sum, { count }) => sum + count, 0),
    8,
  );
  const pack = Buffer.concat([start, ...parts.map(({ objects }) => objects)]);
  const checksum = createHash(first.header.objectFormat).update(pack).digest();
  return Buffer.concat([Buffer.from(headerText(first.header, last.header)), pack, checksum]);
};

const joined = (links: readonly (BundleSource & { bytes: Uint8Array })[]): BundleSource[] => {
  const last = links.at(-1);
  if (last === undefined || links.length === 1) return [...links];
  const bytes = joinBundles(links.map((link) => link.bytes));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return [{ kind: 'link', commit: last.commit, sha256, sizeBytes: bytes.byteLength, bytes }];
};

/** The bundles of one repository, in order, with neighbouring links that travel through the function as one. */
export const joinLinks = (bundles: readonly BundleSource[]): BundleSource[] => {
  const result: BundleSource[] = [];
  let run: (BundleSource & { bytes: Uint8Array })[] = [];
  for (const bundle of bundles) {
    const { bytes } = bundle;
    if (bundle.kind === 'link' && bytes !== undefined) {
      run.push({ ...bundle, bytes });
    } else {
      result.push(...joined(run), bundle);
      run = [];
    }
  }
  return [...result, ...joined(run)];
};
