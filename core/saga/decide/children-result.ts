/** Makes the result of a step that runs children: what became of each child. Pure. */
import type { Json } from '../../../contract/json.ts';
import { clipJson } from '../../shared/clip.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { isAlone, type PinnedChildrenStep } from '../model/children.ts';
import { MAX_RESULT_BYTES } from '../model/tool.ts';
import type { SeenChild } from './saga-events.ts';

const QUOTES = '""'.length;

const resultOf = (step: PinnedChildrenStep, seen: readonly SeenChild[], messageBytes: number): Json => {
  const told = seen.map(({ branch, status, output, error }) => ({
    branch,
    told: {
      status: status ?? 'REFUSED',
      ...(status === 'COMPLETED' ? { output: output ?? null } : {}),
      ...(error === undefined || status === 'COMPLETED'
        ? {}
        : { error: { name: error.name, message: clipJson(error.message, messageBytes) } }),
    },
  }));
  if (isAlone(step)) return seen[0]?.output ?? null;
  if (step.tool === 'each') return told.map(({ told: one }) => one);
  return Object.fromEntries(told.map(({ branch, told: one }) => [branch, one]));
};

/**
 * Undefined when the outputs are too large. Failures never make it too large: their messages share the room
 * that the outputs leave. The children's ledgers have the full messages.
 */
export const childrenResult = (step: PinnedChildrenStep, seen: readonly SeenChild[]): Json | undefined => {
  const whole = resultOf(step, seen, Number.POSITIVE_INFINITY);
  if (jsonBytes(whole) <= MAX_RESULT_BYTES) return whole;
  const room = MAX_RESULT_BYTES - jsonBytes(resultOf(step, seen, QUOTES));
  const messages = seen.filter(({ status, error }) => error !== undefined && status !== 'COMPLETED').length;
  return room < 0 || messages === 0 ? undefined : resultOf(step, seen, QUOTES + Math.floor(room / messages));
};
