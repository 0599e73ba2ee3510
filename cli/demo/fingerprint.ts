/**
 * The state of a repository, computed without Walkback: its files by walking the directory (path, kind,
 * mode, content), its HEAD, branches and index by asking git. Two fingerprints are equal when nothing
 * differs.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Fingerprint {
  /** SHA-256 over every path with its kind, mode and content. */
  files: string;
  fileCount: number;
  /** SHA-256 over HEAD and every branch; `commit` is HEAD's, for people. */
  head: string;
  commit: string;
  /** SHA-256 over the index entries. */
  index: string;
}

/** Directories of git and of Walkback, which are not files of the repository. */
export const OWN_DIRECTORIES: ReadonlySet<string> = new Set(['.git', '.agent-shadow']);

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** One line per path below `directory`, sorted. `skip` holds absolute paths that are left out. */
const describeFiles = async (directory: string, skip: ReadonlySet<string>, below = ''): Promise<string[]> => {
  const names = (await readdir(directory)).sort();
  const lines: string[] = [];
  for (const name of names) {
    const path = join(directory, name);
    if (OWN_DIRECTORIES.has(name) || skip.has(path)) continue;
    const shown = `${below}${name}`;
    const facts = await lstat(path);
    const mode = (facts.mode & 0o7777).toString(8);
    if (facts.isSymbolicLink()) lines.push(`link ${JSON.stringify(shown)} ${sha256(await readlink(path))}`);
    else if (facts.isDirectory()) {
      lines.push(`directory ${JSON.stringify(shown)} ${mode}`);
      lines.push(...(await describeFiles(path, skip, `${shown}/`)));
    } else lines.push(`file ${JSON.stringify(shown)} ${mode} ${sha256(await readFile(path))}`);
  }
  return lines;
};

const git = async (directory: string, ...args: string[]): Promise<string> => {
  const env = {
    PATH: process.env['PATH'],
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: directory,
  };
  const safe = ['-c', 'safe.directory=*', '-c', 'core.fsmonitor=false', '-C', directory];
  return (await promisify(execFile)('git', [...safe, ...args], { env })).stdout;
};

/** A `NotFound` error of the file system passes through: a missing repository has no fingerprint. */
export const fingerprint = async (repository: string, skip: readonly string[] = []): Promise<Fingerprint> => {
  const lines = await describeFiles(repository, new Set(skip));
  const head = await readFile(join(repository, '.git/HEAD'), 'utf8');
  const commit = (await git(repository, 'rev-parse', 'HEAD')).trim();
  const branches = await git(repository, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
  return {
    files: sha256(lines.join('\n')),
    fileCount: lines.length,
    head: sha256(`${head}\n${commit}\n${branches}`),
    commit,
    index: sha256(await git(repository, 'ls-files', '--stage', '-v', '-z')),
  };
};

/** One repository, compared. */
export interface Comparison {
  repository: string;
  before: Fingerprint;
  after: Fingerprint;
  files: boolean;
  head: boolean;
  index: boolean;
}

export const compare = (repository: string, before: Fingerprint, after: Fingerprint): Comparison => ({
  repository,
  before,
  after,
  files: before.files === after.files,
  head: before.head === after.head,
  index: before.index === after.index,
});

export const isEqual = (comparison: Comparison): boolean =>
  comparison.files && comparison.head && comparison.index;
