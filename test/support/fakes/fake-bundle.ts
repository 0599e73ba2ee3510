/** Bundles with a real header and a real pack trailer around content of our own. */
import { createHash } from 'node:crypto';
import { parseBundleHeader } from '../../../core/checkpoint/capture/bundle.ts';

export const sha1 = (text: string | Uint8Array): string => createHash('sha1').update(text).digest('hex');

export const createBundle = (
  commit: string,
  prerequisites: readonly string[],
  content: unknown,
): Uint8Array => {
  const header = [
    '# v2 git bundle',
    ...prerequisites.map((id) => `-${id}`),
    `${commit} refs/walkback/capture`,
    '',
    '',
  ].join('\n');
  const start = Buffer.alloc(12);
  start.write('PACK', 'latin1');
  start.writeUInt32BE(2, 4);
  start.writeUInt32BE(1, 8);
  const pack = Buffer.concat([start, Buffer.from(JSON.stringify(content))]);
  return Buffer.concat([Buffer.from(header), pack, createHash('sha1').update(pack).digest()]);
};

export const readBundle = (bytes: Uint8Array) => {
  const { tips, prerequisites, packOffset } = parseBundleHeader(bytes);
  const content = Buffer.from(bytes.subarray(packOffset + 12, -20)).toString('utf8');
  return { commit: tips[0]?.commit ?? '', prerequisites, content: JSON.parse(content) as unknown };
};
