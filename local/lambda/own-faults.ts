/**
 * Reports faults in functions of the user's where their author looks: in the answer of the call, worded like
 * the deployed runtime and with the stack, and with the time on stderr, which is their log (`daemon.log` of a
 * cloud in the background).
 */
import { inspect } from 'node:util';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { functionError, type InvocationResult } from './run-handler.ts';

/** The function with the fault. */
export interface Own {
  name: string;
  /** Its file. */
  entry: string;
}

/** Why something ended and, if known, where in the code. */
export interface Fault {
  reason: string;
  /** A stack like that of an error, with the reason as its first line. */
  stack?: string | undefined;
}

/** The fault for whatever was thrown. */
export const faultOf = (thrown: unknown): Fault => {
  if (!(thrown instanceof Error)) return { reason: inspect(thrown) };
  const { name, message, stack } = thrown;
  // The message of our own errors says what to do, and where they were thrown helps nobody.
  if (isWalkbackError(thrown)) return { reason: message };
  return { reason: name === 'Error' ? message : `${name}: ${message}`, stack };
};

/** The fault for an error that nobody caught. */
export const faultOutsideOfCalls = (thrown: unknown): Fault => {
  const { reason, stack } = faultOf(thrown);
  return { reason: `${reason} (outside of a call)`, stack };
};

/** A message may contain anything, and a terminal shows it. */
const visible = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);

export const tellOwnFault = ({ name, entry }: Own, { reason, stack }: Fault): void => {
  const where = stack === undefined ? '' : `\n${stack}`.replaceAll('\n', '\n  ');
  const text = `${new Date().toISOString()} function ${name} (${entry}): ${reason}${where}`;
  process.stderr.write(`${visible(text)}\n`);
};

const traceOf = ({ stack }: Fault): string[] => stack?.split('\n') ?? [];

/** The result for an error that the handler threw, or that its module threw when it was loaded. */
export const thrownResult = (thrown: unknown): InvocationResult => {
  const trace = traceOf(faultOf(thrown));
  return thrown instanceof Error
    ? functionError(thrown.name, thrown.message, trace)
    : functionError('UnknownError', String(thrown), trace);
};

/** The result of a call whose thread ended. Nobody knows how far it came. */
export const exitResult = (requestId: string, { name, entry }: Own, fault: Fault): InvocationResult =>
  functionError(
    'Runtime.ExitError',
    `RequestId: ${requestId} Error: Runtime exited: function ${name} (${entry}): ${fault.reason}`,
    traceOf(fault),
  );
