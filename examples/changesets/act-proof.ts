/**
 * The proof of the act of changesets: places as they are on disk, and what plain git makes from the same
 * files.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Comparison,
  compare,
  type Fingerprint,
  fingerprint,
  OWN_DIRECTORIES,
} from '../../cli/demo/fingerprint.ts';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { directoryIn } from '../../client/sandbox-places.ts';
import { NOT_CAPTURED, PROJECTS_ROOT, REPOSITORIES } from './shop.ts';

/** The repositories of one place at one moment. */
export interface State {
  /** A copy of their files, for git to merge. It is deleted with the demo's directory. */
  directory: string;
  prints: ReadonlyMap<string, Fingerprint>;
}

/** Records what was there at some moments, each under a name. */
export interface Recorder {
  /** What is in a sandbox now. */
  record(name: string, sandboxId: string): Promise<void>;
  /**
   * What git alone makes when it brings the changes between two moments into a third: the files as `git
   * merge` makes them, with HEAD, branches and index of the third.
   */
  mergeByGit: (name: string, moments: { base: string; ours: string; theirs: string }) => Promise<void>;
  at: (name: string) => State;
}

const printOf = ({ prints }: State, name: string): Fingerprint => {
  const found = prints.get(name);
  if (found === undefined) throw new CliError('InternalError', `No fingerprint of ${name}.`);
  return found;
};

const printsOf = async (directory: string): Promise<Map<string, Fingerprint>> => {
  const skip = [join(directory, NOT_CAPTURED)];
  const entries = REPOSITORIES.map(
    async (name): Promise<[string, Fingerprint]> => [name, await fingerprint(join(directory, name), skip)],
  );
  return new Map(await Promise.all(entries));
};

const git = async (directory: string, ...args: string[]): Promise<string> => {
  const { PATH } = process.env;
  const env = { PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: '1' };
  const who = ['-c', 'user.name=Proof', '-c', 'user.email=proof@example.com', '-c', 'safe.directory=*'];
  return (await promisify(execFile)('git', [...who, '-C', directory, ...args], { env })).stdout.trim();
};

/** A separate repository that knows only the three sides, as commits. */
const mergeInto = async (
  scratch: string,
  sides: { base: string; ours: string; theirs: string },
): Promise<void> => {
  await mkdir(scratch, { recursive: true });
  await git(scratch, 'init', '-q');
  const commitOf = async (directory: string, ...parents: string[]): Promise<string> => {
    await git(scratch, `--work-tree=${directory}`, 'add', '-A');
    const tree = await git(scratch, 'write-tree');
    return git(scratch, 'commit-tree', '-m', 'side', ...parents.flatMap((one) => ['-p', one]), tree);
  };
  const base = await commitOf(sides.base);
  const theirs = await commitOf(sides.theirs, base);
  const ours = await commitOf(sides.ours, base);
  await git(scratch, 'checkout', '-q', '-f', '--detach', ours);
  await git(scratch, 'merge', '-q', '--no-edit', theirs);
};

export const createRecorder = (sandboxes: Pick<LocalSandboxes, 'places'>, directory: string): Recorder => {
  const states = new Map<string, State>();
  const at = (name: string): State => {
    const found = states.get(name);
    if (found === undefined) throw new CliError('InternalError', `The demo recorded nothing as ${name}.`);
    return found;
  };
  /** Each moment has a copy of its own. */
  let copies = 0;
  const placeFor = (): string => {
    copies += 1;
    return join(directory, `state-${copies}`);
  };
  return {
    at,
    record: async (name, sandboxId) => {
      const copy = placeFor();
      const root = directoryIn(await sandboxes.places(sandboxId), PROJECTS_ROOT);
      const state = { directory: copy, prints: await printsOf(root) };
      states.set(name, state);
      await cp(root, copy, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !OWN_DIRECTORIES.has(basename(path)),
      });
    },
    mergeByGit: async (name, { base, ours, theirs }) => {
      const scratch = placeFor();
      for (const repository of REPOSITORIES) {
        const sideOf = (moment: string): string => join(at(moment).directory, repository);
        await mergeInto(join(scratch, repository), {
          base: sideOf(base),
          ours: sideOf(ours),
          theirs: sideOf(theirs),
        });
      }
      const made = { directory: scratch, prints: await printsOf(scratch) };
      const prints = REPOSITORIES.map((repository): [string, Fingerprint] => {
        const { files, fileCount } = printOf(made, repository);
        return [repository, { ...printOf(at(ours), repository), files, fileCount }];
      });
      states.set(name, { directory: scratch, prints: new Map(prints) });
    },
  };
};

/** One row for each repository. */
export const compareEach = (before: State, after: State): Comparison[] =>
  REPOSITORIES.map((name) => compare(name, printOf(before, name), printOf(after, name)));

/** One hash over the hashes of one kind of all repositories. */
const together = (state: State): Fingerprint => {
  const prints = REPOSITORIES.map((name) => printOf(state, name));
  const hashOf = (kind: 'files' | 'head' | 'index'): string =>
    createHash('sha256')
      .update(prints.map((print) => print[kind]).join('\n'))
      .digest('hex');
  const head = hashOf('head');
  return {
    files: hashOf('files'),
    fileCount: prints.reduce((sum, { fileCount }) => sum + fileCount, 0),
    head,
    commit: head,
    index: hashOf('index'),
  };
};

/** One row for all repositories. */
export const compareAll = (title: string, before: State, after: State): Comparison =>
  compare(title, together(before), together(after));

/** Two states around a step that did nothing would be equal too, so the step must have changed something. */
export const requireChange = (what: string, before: State, after: State): void => {
  if (compareAll(what, before, after).files) throw new CliError('ProofFailed', `${what} changed no file.`);
};
