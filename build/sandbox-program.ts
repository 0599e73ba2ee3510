/** Builds the sandbox program with cargo, the same bytes on every machine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { ARCHITECTURES, type Architecture } from '../adapters/git/program/build.ts';
import { PROJECT } from '../local/program.ts';

const CRATE = join(PROJECT, 'sandbox');
export const PREBUILT = join(CRATE, 'prebuilt');

const SOURCES = [
  'Cargo.toml',
  'Cargo.lock',
  'build.rs',
  'rust-toolchain.toml',
  '.cargo/config.toml',
  'src/**',
];

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const binaryPath = (architecture: Architecture): string =>
  join(PREBUILT, `walkback-sandbox-${architecture}`);

/** The same as `sandbox/build.rs` computes. */
export const sourcesHash = (): string => {
  const files = globSync(SOURCES, { cwd: CRATE, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(CRATE.length + 1))
    .sort();
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(join(CRATE, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
};

/** Paths of this machine must not get into the binary, or two machines would build two programs. */
const flags = (): string => {
  const cargoHome = process.env['CARGO_HOME'] ?? join(homedir(), '.cargo');
  return [
    '-Clink-self-contained=yes',
    `--remap-path-prefix=${CRATE}=/walkback`,
    `--remap-path-prefix=${cargoHome}=/cargo`,
  ].join('\x1f');
};

/** Throws when cargo fails. */
export const cargo = (words: readonly string[], env: Record<string, string> = {}, crate = CRATE): void => {
  execFileSync('cargo', words, { cwd: crate, stdio: 'inherit', env: { ...process.env, ...env } });
};

const starts = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { cwd: CRATE, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export const hasCargo = (): boolean => starts('cargo');

const targetOf = (architecture: Architecture): string => `${architecture}-unknown-linux-musl`;

/**
 * Installs what `rust-toolchain.toml` names and is missing: rustup does so by itself only with a toolchain that is not there at all.
 * Where that is impossible, cargo says what it lacks.
 */
export const completeToolchain = (): void => {
  if (!starts('rustup')) return;
  const add = (...words: string[]): void => {
    spawnSync('rustup', words, { cwd: CRATE, stdio: 'ignore' });
  };
  add('target', 'add', ...ARCHITECTURES.map(targetOf));
  add('component', 'add', 'clippy', 'rustfmt');
};

/** Random tests try the same cases in every check, so that a failure is of the change. `cargo test` tries others each time. */
const SAME_CASES = { PROPTEST_RNG_SEED: process.env['PROPTEST_RNG_SEED'] ?? '12241865' };

export const testCrate = (): void => cargo(['test', '--locked', '--quiet'], SAME_CASES);

/** Debian's package `qemu-user-static` has it. */
const EMULATOR = 'qemu-aarch64-static';

/** Runs the crate's own tests as the program for arm64, emulated. False: the emulator is missing here. */
export const testEmulated = (): boolean => {
  if (!starts(EMULATOR)) return false;
  cargo(['test', '--locked', '--quiet', '--target', targetOf('aarch64')], {
    ...SAME_CASES,
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER: EMULATOR,
  });
  return true;
};

export const buildBinary = (architecture: Architecture): Uint8Array => {
  const target = targetOf(architecture);
  cargo(['build', '--release', '--locked', '--quiet', '--target', target], {
    CARGO_ENCODED_RUSTFLAGS: flags(),
  });
  return readFileSync(join(CRATE, 'target', target, 'release/walkback-sandbox'));
};

const metadata = z.object({
  packages: z.array(z.object({ name: z.string(), version: z.string(), license: z.string().nullable() })),
});
export type Package = z.infer<typeof metadata>['packages'][number];

/** Packages that a crate of ours is built from, and their licences as SPDX expressions. */
export const packagesOf = (crate: string = CRATE): Package[] => {
  const text = execFileSync('cargo', ['metadata', '--format-version', '1', '--locked'], {
    cwd: crate,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return metadata.parse(JSON.parse(text)).packages.filter(({ name }) => !name.startsWith('walkback-'));
};
