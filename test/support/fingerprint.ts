/**
 * The state of a directory of repositories, read without Walkback: files by walking, git state by asking
 * git.
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runSync } from './run-sync.ts';

const HIDDEN = new Set(['.git', '.agent-shadow']);

const walk = (directory: Buffer, prefix: Buffer, lines: string[], directories: boolean): void => {
  for (const name of readdirSync(directory, { encoding: 'buffer' }).toSorted((a, b) =>
    Buffer.compare(a, b),
  )) {
    const shown = name.toString('latin1');
    if (HIDDEN.has(shown)) continue;
    const path = Buffer.concat([directory, Buffer.from('/'), name]);
    const relative = Buffer.concat([prefix, name]);
    const stat = lstatSync(path);
    const label = relative.toString('latin1');
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isDirectory()) {
      if (directories) lines.push(`d ${mode} ${label}`);
      walk(path, Buffer.concat([relative, Buffer.from('/')]), lines, directories);
    } else if (stat.isSymbolicLink()) {
      lines.push(`l ${label} -> ${readlinkSync(path, 'buffer').toString('latin1')}`);
    } else if (stat.isFile()) {
      lines.push(`f ${mode} ${label} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`);
    }
  }
};

/** Every file, symlink and directory below a path, with mode and content hash. */
export const files = (root: string, options: { directories?: boolean } = {}): string[] => {
  const lines: string[] = [];
  walk(Buffer.from(root), Buffer.alloc(0), lines, options.directories ?? true);
  return lines;
};

const STATE = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_AUTOSTASH',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'rebase-merge/head-name',
  'rebase-merge/onto',
  'sequencer/todo',
  'BISECT_LOG',
];

/** That of a linked worktree or submodule stands in a file. */
const gitDirectory = (repository: string): string => {
  const git = join(repository, '.git');
  if (lstatSync(git).isDirectory()) return git;
  return resolve(repository, readFileSync(git, 'latin1').trim().slice('gitdir: '.length));
};

const MARK = '\n--- end of what git said ---\n';

/** All questions in one process: tests ask them thousands of times. */
const ASK = `ask() { git -c safe.directory='*' -c core.fsmonitor=false "$@" 2>/dev/null || printf failed; printf '%s' "$MARK"; }`;

const QUESTIONS = `${ASK}
ask rev-parse -q --verify HEAD
ask for-each-ref '--format=%(refname) %(objectname) %(symref)' refs/heads refs/bisect
ask ls-files -s -v -z
ask diff-index --cached --no-renames HEAD`;

/** Of a whole checkout git names no rules. */
const RULES = `${ASK}
ask sparse-checkout list
ask config core.sparseCheckoutCone`;

/** With reftable, the file HEAD is the same everywhere. */
const headOf = (repository: string, directory: string, commit: string): string => {
  const said = readFileSync(`${directory}/HEAD`, 'latin1').trim();
  if (said !== 'ref: refs/heads/.invalid') return said;
  const [ref = ''] = ask(repository, `${ASK}\nask symbolic-ref -q HEAD`);
  return ref === 'failed' ? commit : `ref: ${ref.trim()}`;
};

const ask = (repository: string, questions: string): string[] =>
  runSync('/bin/sh', ['-c', questions], {
    cwd: repository,
    encoding: 'latin1',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_OPTIONAL_LOCKS: '0',
      // Replacements are in no checkpoint.
      GIT_NO_REPLACE_OBJECTS: '1',
      MARK,
    },
  }).split(MARK);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** HEAD, branches, index with stages and flags, rules of a partial checkout, and the operation in progress of one repository. */
export const gitState = (repository: string): string[] => {
  if (!existsSync(`${repository}/.git`)) return ['no git'];
  const [head = '', refs = '', index = '', staged = '', ...rest] = ask(repository, QUESTIONS);
  if (rest.join() !== '') throw new Error(`git said more than was asked: ${rest.join()}`);
  const directory = gitDirectory(repository);
  const rules = existsSync(`${directory}/info/sparse-checkout`) ? ask(repository, RULES) : ['failed'];
  return [
    `HEAD ${headOf(repository, directory, head.trim())} ${head.trim()}`,
    ...refs.split('\n'),
    `index ${sha256(index)}`,
    `staged ${sha256(staged)}`,
    ...(rules[0] === 'failed' ? [] : [`partial checkout ${rules.join(' ')}`]),
    ...STATE.flatMap((name) => {
      const path = `${directory}/${name}`;
      return existsSync(path) ? [`${name} ${readFileSync(path, 'latin1').trim()}`] : [];
    }),
  ];
};

/** Whether a line of `files` is that of one of two states, or, as after a merge, has the content of one and the mode of the other. */
export const isOfBoth = (now: string, before: string, then: string | undefined): boolean => {
  if (now === then) return true;
  const [ours, theirs] = [before, then ?? ''].map((line) => /^f (\d+) .* (\w+)$/.exec(line));
  const [, mode, hash] = /^f (\d+) .* (\w+)$/.exec(now) ?? [];
  return (mode === theirs?.[1] && hash === ours?.[2]) || (mode === ours?.[1] && hash === theirs?.[2]);
};
