/** The bucket in memory. Presigned URLs name their key; the fake sandbox "sends" through `send` and `fetch`. */

import type { BundleStore } from '../../../core/checkpoint/ports/stores.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { sha256Hex } from '../../../core/shared/ids.ts';

export interface FakeBucket extends BundleStore {
  readonly objects: Map<string, Uint8Array>;
  /** What a PUT to a presigned URL does. */
  send(url: string, headers: Record<string, string>, bytes: Uint8Array): void;
  fetch(url: string, headers?: Record<string, string>): Uint8Array;
}

const missing = (key: string) => new WalkbackError('BundleMissing', `no object ${key}`);

export const createFakeBucket = (): FakeBucket => {
  const objects = new Map<string, Uint8Array>();
  const need = (key: string): Uint8Array => {
    const bytes = objects.get(key);
    if (bytes === undefined) throw missing(key);
    return bytes;
  };
  const get: FakeBucket['get'] = async ({ key, at, sizeBytes, sha256 }) => {
    const bytes = at === undefined ? need(key) : need(key).subarray(at, at + sizeBytes);
    if (sha256Hex(bytes) !== sha256) throw new WalkbackError('BundleCorrupt', `object ${key} is damaged`);
    return bytes;
  };
  return {
    objects,
    put: async (key, bytes, sha256) => {
      if (sha256Hex(bytes) !== sha256) throw new Error('the service refuses a wrong checksum');
      if (!objects.has(key)) objects.set(key, bytes);
    },
    head: async (key) => {
      const bytes = objects.get(key);
      return bytes === undefined ? undefined : { sizeBytes: bytes.length, sha256: sha256Hex(bytes) };
    },
    get,
    check: async (bundle) => void (await get(bundle)),
    getStart: async (key, bytes) => need(key).subarray(0, bytes),
    presignPut: async ({ key, sha256 }) => ({ url: `put:${key}`, headers: { sha256 } }),
    presignGet: async ({ key, at, sizeBytes }) => {
      const headers: Record<string, string> = {};
      if (at !== undefined) headers['range'] = `bytes=${at}-${at + sizeBytes - 1}`;
      return { url: `get:${key}`, headers };
    },
    delete: async (keys) => {
      for (const key of keys) objects.delete(key);
    },
    send: (url, headers, bytes) => {
      if (sha256Hex(bytes) !== headers.sha256) throw new Error('the service refuses a wrong checksum');
      objects.set(url.slice('put:'.length), bytes);
    },
    fetch: (url, headers) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers?.['range'] ?? '') ?? [];
      const bytes = need(url.slice('get:'.length));
      return from === undefined ? bytes : bytes.subarray(Number(from), Number(to) + 1);
    },
  };
};
