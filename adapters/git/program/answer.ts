/**
 * Reads the answer of the sandbox program: frames `KIND LENGTH`, as base64 between two lines that only this call
 * knows. The last frame has the SHA-256 of all bytes before it. Pure. The content is a claim of the sandbox (C10).
 */
import { createHash } from 'node:crypto';
import type * as z from 'zod';
import { ERROR_NAMES, ERRORS } from '../../../contract/errors.ts';
import { sandboxError } from '../../../contract/sandbox/reports.ts';
import type { CommandResult } from '../../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { PROGRESS_PREFIX } from './progress.ts';

export interface Frame {
  kind: string;
  bytes: Uint8Array;
}

const ANSWERABLE = ERROR_NAMES.filter((name) => ERRORS[name].isToldBySandbox === true);

const HEAD = /^([a-z-]{1,32}) (\d{1,15})$/;
const NEWLINE = 0x0a;
const MAX_HEAD_BYTES = 64;

/** Of an answer, or the bytes beside it, that is not whole. Such an answer is never used as if it were. */
export const cutShort = (): WalkbackError =>
  new WalkbackError(
    'SandboxUnavailable',
    'The answer of the sandbox was cut short. Call again; the sandbox may be short of memory.',
    { retryable: true },
  );

/** The base64 text of the nth answer (from 0) in the output. Undefined while it is not complete. */
export const findAnswer = (stdout: string, mark: string, number = 0): string | undefined => {
  const lines = stdout.split('\n');
  const marks = lines.flatMap((line, at) => (line.trimEnd() === mark ? [at] : []));
  const start = marks[number * 2];
  const stop = marks[number * 2 + 1];
  return start === undefined || stop === undefined ? undefined : lines.slice(start + 1, stop).join('');
};

/** The frames before the end. Throws when the bytes are not a whole answer. */
const readFrames = (bytes: Uint8Array): Frame[] => {
  const frames: Frame[] = [];
  let at = 0;
  for (;;) {
    const stop = bytes.subarray(at, at + MAX_HEAD_BYTES).indexOf(NEWLINE);
    const head = HEAD.exec(Buffer.from(bytes.subarray(at, at + Math.max(stop, 0))).toString('latin1'));
    if (stop < 0 || head === null) throw cutShort();
    const [, kind = '', length = ''] = head;
    const start = at + stop + 1;
    const end = start + Number(length);
    if (end > bytes.length) throw cutShort();
    const content = bytes.subarray(start, end);
    if (kind !== 'end') {
      frames.push({ kind, bytes: content });
      at = end;
      continue;
    }
    const digest = createHash('sha256').update(bytes.subarray(0, at)).digest('hex');
    if (end !== bytes.length || Buffer.from(content).toString('latin1') !== digest) throw cutShort();
    return frames;
  }
};

const jsonOf = (frame: Frame | undefined): unknown => {
  if (frame === undefined) throw cutShort();
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(frame.bytes));
  } catch {
    throw misunderstood();
  }
};

const misunderstood = (): WalkbackError =>
  new WalkbackError(
    'SandboxUnavailable',
    'The sandbox answered what its program never answers. Call again; if it happens again, make a new sandbox: something in this one changes what our program writes.',
    { retryable: true },
  );

const refusal = (frame: Frame): WalkbackError => {
  const { data } = sandboxError.safeParse(jsonOf(frame));
  if (data === undefined) return misunderstood();
  const known = ANSWERABLE.find((name) => name === data.name) ?? 'SandboxUnavailable';
  return new WalkbackError(known, data.message.trim() || 'The sandbox refused the command.', {
    retryable: known === 'SandboxUnavailable',
    ...(known !== data.name && { details: { said: data.name } }),
  });
};

const ended = ({ exitCode, stderr }: CommandResult): WalkbackError => {
  const details = { exitCode };
  if (exitCode === 124 || exitCode === 137)
    return new WalkbackError(
      'SandboxUnavailable',
      'The program in the sandbox was ended: it reached its deadline, or the sandbox is short of memory. Call again; raise the timeout if it happens again.',
      { retryable: true, details },
    );
  const said = stderr
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith(PROGRESS_PREFIX))
    .slice(-3)
    .join(' | ')
    .slice(0, 400);
  // A process that was ended by a signal has written nothing. Some sandboxes then answer -1.
  const why = said || (exitCode < 0 || exitCode > 128 ? 'it was ended by a signal' : 'it said nothing');
  return new WalkbackError(
    'SandboxUnavailable',
    `The program in the sandbox ended with ${exitCode} and no answer: ${why}. Call again.`,
    { retryable: true, details },
  );
};

export interface Answer<Report> {
  report: Report;
  /** What follows the report, in its order. */
  frames: Frame[];
}

/** The answer in base64. An error in it is thrown as the WalkbackError it names. */
export const readAnswer = <Report>(schema: z.ZodType<Report>, base64: string): Answer<Report> => {
  const [first, ...frames] = readFrames(Buffer.from(base64, 'base64'));
  if (first?.kind === 'error') throw refusal(first);
  const { data } = schema.safeParse(jsonOf(first?.kind === 'report' ? first : undefined));
  if (data === undefined) throw misunderstood();
  return { report: data, frames };
};

/** The same, in the output of a call that has ended. A later answer of the call has a higher number. */
export const requireAnswer = <Report>(
  schema: z.ZodType<Report>,
  result: CommandResult,
  mark: string,
  number = 0,
): Answer<Report> => {
  const base64 = findAnswer(result.stdout, mark, number);
  if (base64 === undefined) throw ended(result);
  return readAnswer(schema, base64);
};

/** The report alone. */
export const readReport = <Report>(schema: z.ZodType<Report>, result: CommandResult, mark: string): Report =>
  requireAnswer(schema, result, mark).report;
