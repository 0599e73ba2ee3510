/**
 * Reads the output of a script in the sandbox: NUL-ended key/value pairs, as base64 between two mark lines.
 * So noise of the shell, odd file names and raw bundles do no harm. Pure. The content is a claim of the
 * sandbox (C10).
 */

import { ERROR_NAMES, ERRORS } from '../../contract/errors.ts';
import type { CommandResult } from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { decodeName } from './names.ts';

export type Pair = readonly [key: string, value: string];

export interface CommandOutput {
  pairs: Pair[];
  /** What follows the pairs: bundles, one after the other. */
  rest: Uint8Array;
  /** Whether the pair `end` was there. Without it, something was cut off. */
  complete: boolean;
}

const ANSWERABLE = ERROR_NAMES.filter((name) => ERRORS[name].isToldBySandbox === true);

/** Pairs whose value is a name, which goes back into the sandbox unchanged. */
const NAMES = new Set([
  'repo',
  'around',
  'fail-path',
  'skip-path',
  'late-path',
  'conflict-path',
  'unknown-path',
  'plan-path',
  'directory',
  'entry',
  'aside',
  'aside-repository',
  'aside-late',
  'aside-open',
]);

/** All other values are for people to read. */
const decodeText = (bytes: Uint8Array): string => new TextDecoder('utf-8').decode(bytes);

/** Splits decoded bytes into pairs up to the pair `end`, and the rest. */
export const parseOutput = (bytes: Uint8Array): CommandOutput => {
  const pairs: Pair[] = [];
  let at = 0;
  const next = (): Uint8Array | undefined => {
    const stop = bytes.indexOf(0, at);
    if (stop < 0) return undefined;
    const found = bytes.subarray(at, stop);
    at = stop + 1;
    return found;
  };
  for (;;) {
    const first = next();
    const second = first === undefined ? undefined : next();
    if (first === undefined || second === undefined)
      return { pairs, rest: bytes.subarray(at), complete: false };
    const key = decodeText(first);
    pairs.push([key, NAMES.has(key) ? decodeName(second) : decodeText(second)]);
    if (key === 'end') return { pairs, rest: bytes.subarray(at), complete: true };
  }
};

/** The base64 text of the nth block (from 0) in the output, or undefined while it is not complete. */
export const findOutput = (stdout: string, mark: string, index = 0): string | undefined => {
  const lines = stdout.split('\n');
  const marks = lines.flatMap((line, at) => (line.trimEnd() === mark ? [at] : []));
  const start = marks[index * 2];
  const stop = marks[index * 2 + 1];
  return start === undefined || stop === undefined ? undefined : lines.slice(start + 1, stop).join('');
};

export const value = (pairs: readonly Pair[], key: string): string | undefined =>
  pairs.find(([name]) => name === key)?.[1];

/** The reason that the sandbox gives. There is always some text for a person. */
export const reasonIn = (pairs: readonly Pair[], key: string): string =>
  value(pairs, key)?.trim() || 'the sandbox gave no reason';

/** Cuts a list of pairs into records, each beginning with the key `first`. */
export const records = (pairs: readonly Pair[], first: string): Pair[][] => {
  const found: Pair[][] = [];
  for (const pair of pairs) {
    if (pair[0] === first) found.push([pair]);
    else found.at(-1)?.push(pair);
  }
  return found;
};

const unavailable = (message: string, details: Record<string, unknown> = {}): WalkbackError =>
  new WalkbackError('SandboxUnavailable', message, { retryable: true, details });

/**
 * The error for an output, or its attached bytes, that was cut short. Such an output is never used as if it
 * were complete.
 */
export const cutShort = (): WalkbackError =>
  unavailable('The answer of the sandbox was cut short. Call again; the sandbox may be short of memory.');

/** Every value of a key, in order. */
export const all = (pairs: readonly Pair[], key: string): string[] =>
  pairs.flatMap(([name, text]) => (name === key ? [text] : []));

/** Warnings about repositories, one line each. */
export const warningsOf = (repositories: readonly (readonly Pair[])[]): string[] =>
  repositories.flatMap((record) =>
    all(record, 'warning').map((text) => `${value(record, 'repo') ?? '.'}: ${text.trim()}`),
  );

/** Parses an output; an `error` in it is thrown as the WalkbackError it names. */
export const readOutput = (base64: string): CommandOutput => {
  const output = parseOutput(Buffer.from(base64, 'base64'));
  const name = value(output.pairs, 'error');
  if (name !== undefined) {
    const known = ANSWERABLE.find((candidate) => candidate === name) ?? 'SandboxUnavailable';
    throw new WalkbackError(
      known,
      value(output.pairs, 'message')?.trim() || 'The sandbox refused the command.',
      {
        retryable: known === 'SandboxUnavailable',
      },
    );
  }
  if (!output.complete) throw cutShort();
  return output;
};

/**
 * The messages of bash, dash, env and timeout. A function of ours that half a program calls, such as
 * `park_git`, is not a tool.
 */
const TOOL_IS_MISSING =
  /(?:[\s'‘"]|\bbin\/)(?:git|flock|timeout|find|base64|gzip|sha256sum|env|bash)['’"]?: (?:command not found|not found|No such file or directory)/;

/** The first output of a finished command, or the reason why there is none. */
export const requireOutput = (result: CommandResult, mark: string): CommandOutput => {
  const base64 = findOutput(result.stdout, mark);
  if (base64 !== undefined) return readOutput(base64);
  const { exitCode } = result;
  if (exitCode === 124 || exitCode === 137) {
    throw unavailable(
      'The command in the sandbox was ended: it reached its deadline, or the sandbox is short of memory. Call again; raise the timeout if it happens again.',
      { exitCode },
    );
  }
  const said = result.stderr.trim().split('\n');
  const stderr = said.slice(-3).join(' | ').slice(0, 400);
  if (said.slice(-3).some((line) => TOOL_IS_MISSING.test(line))) {
    throw new WalkbackError(
      'SandboxUnsupported',
      `The sandbox lacks a tool Walkback needs (git 2.25, bash 4.4, GNU coreutils and findutils, flock, gzip): ${stderr}`,
    );
  }
  // A shell that was ended by a signal has written nothing. Some sandboxes then answer -1.
  const why = stderr || (exitCode < 0 || exitCode > 128 ? 'it was ended by a signal' : 'it said nothing');
  throw unavailable(`The command in the sandbox ended with ${exitCode} and no answer: ${why}. Call again.`, {
    exitCode,
  });
};
