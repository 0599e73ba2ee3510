/** Reads how a command in a copy ended. Pure. */
import type { CommandReport } from '../ports/workspace.ts';

type Ended = Extract<CommandReport, { kind: 'ended' }>;

/** Exit codes of `timeout`: the time was over, or the command had to be killed. */
const ENDED_BY_TIMEOUT = new Set([124, 137]);

export const wasEndedByTimeout = ({ exitCode, milliseconds }: Ended, seconds: number): boolean =>
  ENDED_BY_TIMEOUT.has(exitCode) && milliseconds >= seconds * 1000;

export const outputOf = ({ output, tail }: Ended): string =>
  tail === undefined ? output : `${output}\n[...]\n${tail}`;
