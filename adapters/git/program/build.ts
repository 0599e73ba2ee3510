/** The sandbox program as it is packed: one static binary for each architecture, under `sandbox/prebuilt`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

/** Names of machines as `uname -m` prints them. */
export const ARCHITECTURES = ['x86_64', 'aarch64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const manifestSchema = z.strictObject({
  build: sha256.describe('of the sources'),
  binaries: z.strictObject({ x86_64: sha256, aarch64: sha256 }),
});

export interface ProgramBuild {
  /** SHA-256 of the sources. The program answers the same to `hello`. */
  build: string;
  /** SHA-256 of each binary: its name in a sandbox. */
  digests: Record<Architecture, string>;
  bytes(architecture: Architecture): Uint8Array;
  /** Where the binary lies on this machine. */
  path(architecture: Architecture): string;
}

/** When bundled, the program lies beside the code; otherwise in the folder `sandbox`. */
const PREBUILT = import.meta.url.endsWith('.ts') ? '../../../sandbox/prebuilt' : './sandbox/prebuilt';

/** Reads the manifest at once, and a binary when it is needed. */
export const readProgramBuild = (
  directory = fileURLToPath(new URL(PREBUILT, import.meta.url)),
): ProgramBuild => {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')));
  const path = (architecture: Architecture): string => join(directory, `walkback-sandbox-${architecture}`);
  return {
    build: manifest.build,
    digests: manifest.binaries,
    path,
    bytes: (architecture) => readFileSync(path(architecture)),
  };
};
