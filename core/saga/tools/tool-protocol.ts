/** The protocol between the saga and a tool: one JSON request, one JSON answer. */
import * as z from 'zod';
import { isJson, jsonProblem } from '../../../contract/json.ts';
import { clip } from '../../shared/clip.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { wellFormed } from '../../shared/well-formed.ts';
import type { Outcome } from '../decide/saga-events.ts';
import { errorOf, hasText } from '../model/text.ts';
import { MAX_RESULT_BYTES } from '../model/tool.ts';
import { refusalOf } from './engine-errors.ts';

/**
 * Largest answer that is read from an HTTP tool, with everything around the result. JSON may write one byte
 * of text in six (`\\u0041`), and its author may indent it. That alone makes no result too large.
 */
export const MAX_RESPONSE_BYTES = 8 * MAX_RESULT_BYTES;

const MAX_REFERENCE = 500;
const MAX_RESIDUE = 1000;
const MAX_MESSAGE = 4000;
const MAX_CAUSE = 500;

// What a tool reports about its effect counts, however it is worded. Long texts are cut, a value that should
// be a text and is none is written as one, and null means absent. None of this ever makes the outcome
// doubtful.

const textOf = (value: unknown): string => {
  if (typeof value === 'string' || typeof value === 'bigint') return String(value);
  return value === null || value === undefined || !isJson(value) ? '' : JSON.stringify(value);
};

/** The reference of an effect. An empty text counts as none, because it cannot be a key of an index. */
export const referenceOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text === '' ? undefined : clip(text, MAX_REFERENCE);
};

/** What is left of an effect. An empty text means that nothing is left. */
export const residueText = (value: unknown): string | undefined => {
  const text = textOf(value);
  return hasText(text) ? clip(text, MAX_RESIDUE) : undefined;
};

const toldError = (value: unknown): ReturnType<typeof errorOf> => {
  const told = z.object({ name: z.unknown(), message: z.unknown() }).safeParse(value);
  return told.success
    ? errorOf(textOf(told.data.name), textOf(told.data.message), MAX_MESSAGE)
    : errorOf('', textOf(value), MAX_MESSAGE);
};

const isTold = (value: unknown): boolean => value !== null && value !== undefined;
const error = z.unknown().refine(isTold).transform(toldError);
const externalRef = z.unknown().transform(referenceOf).optional();

const answer = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('committed'),
    result: z.unknown(),
    externalRef,
    residue: z.unknown().transform(residueText).optional(),
    error: z
      .unknown()
      .transform((value) => (isTold(value) ? toldError(value) : undefined))
      .optional(),
  }),
  z.object({
    outcome: z.literal('rejected'),
    error,
    retryable: z.boolean(),
    // An invalid hint is ignored, and the refusal still counts.
    reached: z.literal(false).optional().catch(undefined),
    retryAfterSeconds: z.number().min(0).optional().catch(undefined),
  }),
  z.object({
    outcome: z.literal('unknown'),
    error,
    answered: z.boolean(),
    externalRef,
  }),
  z.object({ outcome: z.literal('absent') }),
]);

/** The call took effect, so a problem with its result is reported beside the result. */
const withinBounds = (read: z.infer<typeof answer>): Outcome => {
  if (read.outcome !== 'committed') return read;
  const { result = null } = read;
  if (!isJson(result)) {
    const message = `The tool's result ${jsonProblem(result) ?? 'is no JSON'}.`;
    return { ...read, result: null, error: { name: 'InvalidResult', message } };
  }
  if (jsonBytes(result) > MAX_RESULT_BYTES) {
    const message = `The tool's result takes more than ${MAX_RESULT_BYTES} bytes; store it and return a reference.`;
    return { ...read, result: null, error: { name: 'ResultTooLarge', message } };
  }
  return { ...read, result };
};

/** Reads a tool's answer. Anything that is not a valid answer leaves the outcome open (S2). */
export const readToolResponse = (payload: unknown): Outcome => {
  const parsed = answer.safeParse(wellFormed(payload));
  if (!parsed.success) {
    const message =
      'The tool answered something that is not an outcome; make it with defineTool and toolHandler.';
    return { outcome: 'unknown', error: { name: 'InvalidResult', message }, answered: true };
  }
  return withinBounds(parsed.data);
};

/** The meaning of the engine's error: clean only when the function was never started (S2). */
export const readEngineError = (name: string, cause: string): Outcome => {
  const error = errorOf(name, cause, MAX_CAUSE);
  const refusal = refusalOf(name);
  return refusal === undefined
    ? { outcome: 'unknown', error, answered: false }
    : { outcome: 'rejected', error, ...refusal, reached: false };
};
