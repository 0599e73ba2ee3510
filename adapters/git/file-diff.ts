/**
 * The lines of one file between two captures, with as many lines around them as were asked for. The program in the
 * sandbox has three lines around each change of a whole repository, so this is one command of git of its own. The
 * program has looked before that both captures are there.
 */

import type { DiffPair } from '../../core/checkpoint/ports/repositories.ts';
import type { CommandResult } from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { GIT_ENVIRONMENT } from './git-environment.ts';
import { nameWord, shellQuote } from './script.ts';

/** Who works in the sandbox can write the settings of the shadow. Empty, because git before 2.36 ran a monitor named `false`. */
const SETTINGS = '-c core.bigFileThreshold=4m -c core.fsmonitor= -c core.hooksPath=/dev/null';

const OPTIONS = '-r -p --no-ext-diff --no-textconv --no-color --no-renames --full-index';

/** Where the repository was not there, everything is compared with nothing. */
const treeOf = (id: string | null): string => (id === null ? '"$nothing"' : shellQuote(id));

export interface FileDiffRequest {
  sessionId: string;
  pair: Pick<DiffPair, 'path' | 'from' | 'to'>;
  file: string;
  context: number;
  maxBytes: number;
}

/** Runs in the projects root. It writes at most one byte more than `maxBytes`. */
export const fileDiffCommand = ({ sessionId, pair, file, context, maxBytes }: FileDiffRequest): string => {
  const prefix = pair.path === '.' ? '' : `${pair.path}/`;
  const git = `env -i PATH="$PATH" ${GIT_ENVIRONMENT.join(' ')} GIT_DIR=. git ${SETTINGS}`;
  return [
    // Else nobody sees how git ended, and half a diff looks like a whole one.
    'set -o pipefail',
    `cd -- ${nameWord(`${prefix}.agent-shadow/session-${sessionId}`)}`,
    `nothing=$(${git} hash-object -t tree /dev/null)`,
    `${git} diff-tree ${OPTIONS} -U${context} --src-prefix=${nameWord(`a/${prefix}`)} --dst-prefix=${nameWord(`b/${prefix}`)} ${treeOf(pair.from)} ${treeOf(pair.to)} -- ${nameWord(file)} | head -c ${maxBytes + 1}`,
  ].join(' && ');
};

export interface FileDiff {
  diff: string;
  truncated: boolean;
  added: number;
  deleted: number;
}

/** Git writes on into a pipe that nobody reads any more: 128 and SIGPIPE. */
const CUT_EXIT = 141;

/** The text and its counts. Throws `SandboxUnavailable` (retryable) when git failed or was ended, so that half a diff is none. */
export const readFileDiff = ({ exitCode, stdout, stderr }: CommandResult, maxBytes: number): FileDiff => {
  const truncated = Buffer.byteLength(stdout) > maxBytes;
  if (exitCode !== 0 && !(truncated && exitCode === CUT_EXIT)) {
    const said = stderr.trim().split('\n').slice(-3).join(' | ').slice(0, 400);
    throw new WalkbackError(
      'SandboxUnavailable',
      `git in the sandbox did not compare the file (exit ${exitCode}): ${said || 'it said nothing'}. Call again.`,
      { retryable: true, details: { exitCode } },
    );
  }
  const diff = truncated ? stdout.slice(0, stdout.lastIndexOf('\n') + 1) : stdout;
  const lines = diff.slice(Math.max(0, diff.indexOf('\n@@'))).split('\n');
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  const isText = diff.includes('\n@@');
  return { diff, truncated, added: isText ? count('+') : 0, deleted: isText ? count('-') : 0 };
};
