/**
 * Cursors say where the next page of a list begins. Every list refuses a cursor that it did not give: one of
 * another query, changed, made up, or past the end. Pure.
 */
import { WalkbackError } from './errors.ts';
import { sha256Hex } from './ids.ts';

export const badCursor = (cause?: unknown): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    'cursor: take it from the answer before, with the other fields as they were.',
    { cause, details: { fields: ['cursor'] } },
  );

export const requireGiven = (isGiven: boolean): void => {
  if (!isGiven) throw badCursor();
};

/** Cursors that are a text followed by a number: `before-7`. Each place has only one spelling. */
export const numbered = (before: string) => ({
  write: (place: number): string => `${before}${place}`,
  /** `from` and `to`: the lowest and highest place for which the list gives cursors. */
  read: (cursor: string, { from, to }: { from: number; to: number }): number => {
    const place = cursor.startsWith(before) ? Number(cursor.slice(before.length)) : Number.NaN;
    requireGiven(
      `${before}${place}` === cursor && Number.isSafeInteger(place) && place >= from && place <= to,
    );
    return place;
  },
});

const SEAL_LENGTH = 12;

const bodyOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** `query`: names the list and its filters. */
const sealOf = (query: string, body: string): string =>
  sha256Hex(JSON.stringify([query, body])).slice(0, SEAL_LENGTH);

/**
 * Cursors that hold data of the store, with a seal. So a cursor of another query, or with a changed
 * character, is recognised without a read. The seal protects from mistakes; it keeps no secret.
 */
export const sealed = (query: string) => ({
  write: (value: unknown): string => {
    const body = bodyOf(value);
    return `${body}.${sealOf(query, body)}`;
  },
  read: (cursor: string): unknown => {
    const [body = '', seal, ...rest] = cursor.split('.');
    requireGiven(rest.length === 0 && seal === sealOf(query, body));
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(body, 'base64url').toString());
    } catch (cause) {
      throw badCursor(cause);
    }
    requireGiven(bodyOf(value) === body);
    return value;
  },
});
