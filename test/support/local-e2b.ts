/** A local E2B in a temporary directory, with the real SDK pointed at it; it disposes of itself. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { E2B } from 'e2b';
import { startE2b } from '../../local/e2b/server.ts';

export const apiKey = 'a-local-key';

export const sdkFor = (url: string, key = apiKey) =>
  new E2B({ apiKey: key, apiUrl: url, sandboxUrl: url, retries: 0 }).Sandbox;

export const startLocalE2b = async (environment?: Record<string, string>) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'walkback-e2b-'));
  const start = () => startE2b({ dataDir, apiKey, environment });
  let server = await start();
  return {
    dataDir,
    get url() {
      return server.url;
    },
    get sdk() {
      return sdkFor(server.url);
    },
    rootfs: (sandboxId: string, path = ''): string => join(dataDir, sandboxId, 'rootfs', path),
    /** Runs `meanwhile` between the end of one server and the start of the next. */
    async restart(meanwhile: () => Promise<void> | void = () => undefined): Promise<void> {
      await server.close();
      await meanwhile();
      server = await start();
    },
    close: () => server.close(),
    async [Symbol.asyncDispose](): Promise<void> {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

/** False for zombies too: they have ended, whoever should collect them. */
export const isAlive = (pid: number): boolean => {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return false;
  const state = readFileSync(file, 'utf8').split(') ').at(-1)?.[0];
  return state !== 'Z' && state !== 'X';
};

/** The name of what a promise fails with, or `no error`. */
export const errorName = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
