/** Builds the tracer with cargo (`sandbox/faults`), which lets faults happen to the sandbox program in tests. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../local/program.ts';
import { type Package, packagesOf } from './sandbox-program.ts';

const CRATE = join(PROJECT, 'sandbox/faults');
const TARGET = join(PROJECT, 'node_modules/.cache/walkback-faults');

/** It reads the registers of this architecture. */
export const isTracedHere = process.platform === 'linux' && process.arch === 'x64';

/** Throws when cargo fails. What cargo says goes to standard error. */
const cargo = (...words: string[]): void => {
  execFileSync('cargo', words, {
    cwd: CRATE,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CARGO_TARGET_DIR: TARGET },
  });
};

/** Its path. Several callers at once wait for the one that builds it. */
export const buildTracer = (): string => {
  cargo('build', '--locked', '--quiet');
  return join(TARGET, 'debug/walkback-faults');
};

export const checkTracer = (): void => {
  cargo('fmt', '--check');
  cargo('clippy', '--locked', '--quiet', '--all-targets', '--', '-D', 'warnings');
  cargo('test', '--locked', '--quiet');
};

export const tracerPackages = (): Package[] => packagesOf(CRATE);
