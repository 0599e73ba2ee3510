/**
 * How long each function may run. A copy of the rows of contract/functions.ts, because importing those loads
 * every schema. The compiler refuses a number that differs from the row, and a missing function.
 */
import type { CallableName, FUNCTIONS } from '../contract/functions.ts';

type Functions = typeof FUNCTIONS;

/** The functions that outsiders may call: all except those of the machine, rules and streams. */
export type ClientFunction = {
  [Name in CallableName]: Functions[Name]['callers'][number] extends 'internal' ? never : Name;
}[CallableName];

export const TIMEOUT_SECONDS: { readonly [Name in ClientFunction]: Functions[Name]['timeoutSeconds'] } = {
  'start-session': 900,
  checkpoint: 900,
  rollback: 900,
  revert: 900,
  'fork-session': 900,
  merge: 900,
  preflight: 300,
  rehydrate: 900,
  'verify-commitments': 900,
  'bisect-session': 900,
  timeline: 60,
  context: 300,
  diff: 300,
  blame: 300,
  changes: 60,
  progress: 60,
  'list-sessions': 60,
  'search-sessions': 60,
  'end-session': 900,
  'list-copies': 300,
  'delete-copy': 300,
  'start-saga': 60,
  'submit-step': 900,
  'call-tool': 900,
  'park-saga': 900,
  'close-saga': 60,
  'describe-saga': 900,
  answer: 60,
  'operate-saga': 60,
  rewind: 900,
  'query-ledger': 60,
  'anchor-ledger': 300,
  'export-ledger': 300,
  'list-sagas': 60,
  'list-locks': 60,
  'list-catalog': 60,
  'put-catalog': 60,
  sweep: 300,
};

/** A request waits longer than its function runs, so that the caller gets the function's own error. */
const MARGIN_SECONDS = 10;

export const patienceMs = (name: ClientFunction): number => (TIMEOUT_SECONDS[name] + MARGIN_SECONDS) * 1000;

export const isClientFunction = (name: string): name is ClientFunction =>
  Object.hasOwn(TIMEOUT_SECONDS, name);
