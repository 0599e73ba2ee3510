/**
 * What goes wrong in functions of one's own, where their author looks: in the answer of the call, as the deployed runtime words it
 * and with its stack, and with the time on stderr, which is their log (`daemon.log` of a cloud in the background).
 */
import { inspect } from 'node:util';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { functionError, type InvocationResult } from './run-handler.ts';

/** Which function. */
export interface Own {
  name: string;
  /** Its file. */
  entry: string;
}

/** Why something ended, and where that was in the code, when it is known. */
export interface Fault {
  reason: string;
  /** As errors have it, with the reason as its first line. */
  stack?: string | undefined;
}

/** Of whatever somebody threw. */
export const faultOf = (thrown: unknown): Fault => {
  if (!(thrown instanceof Error)) return { reason: inspect(thrown) };
  const { name, message, stack } = thrown;
  // Of ours the message says what to do, and where it was thrown helps nobody.
  if (isWalkbackError(thrown)) return { reason: message };
  return { reason: name === 'Error' ? message : `${name}: ${message}`, stack };
};

/** Of what nobody caught. */
export const faultOutsideOfCalls = (thrown: unknown): Fault => {
  const { reason, stack } = faultOf(thrown);
  return { reason: `${reason} (outside of a call)`, stack };
};

/** A message may quote anything, and a terminal shows it. */
const visible = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n\t]/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);

export const tellOwnFault = ({ name, entry }: Own, { reason, stack }: Fault): void => {
  const where = stack === undefined ? '' : `\n${stack}`.replaceAll('\n', '\n  ');
  const text = `${new Date().toISOString()} function ${name} (${entry}): ${reason}${where}`;
  process.stderr.write(`${visible(text)}\n`);
};

const traceOf = ({ stack }: Fault): string[] => stack?.split('\n') ?? [];

/** An error that its handler threw, or its module when it was loaded. */
export const thrownResult = (thrown: unknown): InvocationResult => {
  const trace = traceOf(faultOf(thrown));
  return thrown instanceof Error
    ? functionError(thrown.name, thrown.message, trace)
    : functionError('UnknownError', String(thrown), trace);
};

/** Of a call whose thread ended: how far it came nobody knows. */
export const exitResult = (requestId: string, { name, entry }: Own, fault: Fault): InvocationResult =>
  functionError(
    'Runtime.ExitError',
    `RequestId: ${requestId} Error: Runtime exited: function ${name} (${entry}): ${fault.reason}`,
    traceOf(fault),
  );
