/** Reads that a page stands without. What failed is said in its place, and the rest of the page is shown. */
import { html } from 'hono/html';
import type { Visit } from './context.ts';
import { adviceOf, type Failure, messageOf } from './failure-words.ts';
import { type Markup, NOTHING, said } from './parts/markup.ts';

/** Neither: there is nothing to read any more, or not for this person. */
export interface Further<T> {
  read?: T;
  failed?: Failure;
}

/** `isExpected`: errors of which the page says nothing. */
export const further = async <T>(
  { failureOf, isNotFound, isForbidden }: Pick<Visit, 'failureOf' | 'isNotFound' | 'isForbidden'>,
  asking: Promise<T>,
  isExpected = (error: unknown): boolean => isNotFound(error) || isForbidden(error),
): Promise<Further<T>> => {
  try {
    return { read: await asking };
  } catch (error) {
    return isExpected(error) ? {} : { failed: failureOf(error) };
  }
};

/** Where nothing is expected to fail. */
export const never = (): boolean => false;

/** `what`: the subject of a sentence, as in "What it changed could not be read". */
export const failedPart = (what: string, { failed }: Further<unknown>, more = ''): Markup => {
  if (failed === undefined) return NOTHING;
  const advice = adviceOf(failed.name);
  return html`<section class="card warn" role="status"><p>${what} could not be read: ${said(messageOf(failed))}${more === '' ? '' : ` ${more}`}</p>${
    advice === undefined ? NOTHING : html`<p class="hint">What to do: ${advice}</p>`
  }</section>`;
};

/** For the twin of a page: a program must not take a part that failed for an empty one. */
export const failedData = (
  parts: Readonly<Record<string, Further<unknown>>>,
): { failed?: Record<string, Failure> } => {
  const failed = Object.entries(parts).flatMap(([name, one]) =>
    one.failed === undefined ? [] : [[name, one.failed] as const],
  );
  return failed.length === 0 ? {} : { failed: Object.fromEntries(failed) };
};
