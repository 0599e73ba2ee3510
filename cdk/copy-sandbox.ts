/** What a bundle needs of the folder `sandbox`: the scripts and the binaries, which are read at run time. */
import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PROJECT } from './bundle-options.ts';

const SOURCES = join(PROJECT, 'sandbox');

/** The crates, what cargo made of them, and pages for readers stay here. */
const LEFT_OUT = new Set([
  'src',
  'faults',
  'next',
  'target',
  '.cargo',
  'tests',
  'build.rs',
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  'rustfmt.toml',
  'README.md',
  '.gitignore',
]);

export const copySandbox = (directory: string): Promise<void> =>
  cp(SOURCES, directory, {
    recursive: true,
    filter: (path) => path === SOURCES || !(LEFT_OUT.has(basename(path)) || path.endsWith('.ts')),
  });
