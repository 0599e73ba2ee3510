/**
 * Cursors say where the next page of a list begins. Every list refuses one that it did not give: of another query, changed,
 * made up, or past the end. Pure.
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

/** Cursors that are a number behind a text: `before-7`. There is one way to write each. */
export const numbered = (before: string) => ({
  write: (place: number): string => `${before}${place}`,
  /** `from` and `to`: the places that the list gives. */
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

/** `query`: what it is a list of. */
const sealOf = (query: string, body: string): string =>
  sha256Hex(JSON.stringify([query, body])).slice(0, SEAL_LENGTH);

/**
 * Cursors that are data of the store, with a seal, so that one of another query or with a changed character is known without
 * a look. It protects from mistakes and keeps no secret.
 */
export const sealed = (query: string) => ({
  write: (value: unknown): string => {
    const body = bodyOf(value);
    return `${body}.${sealOf(query, body)}`;
  },
  /** `isSealed`: false for what an older release gave, which is to be checked in another way. */
  read: (cursor: string): { value: unknown; isSealed: boolean } => {
    const [body = '', seal, ...rest] = cursor.split('.');
    requireGiven(rest.length === 0 && (seal === undefined || seal === sealOf(query, body)));
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(body, 'base64url').toString());
    } catch (cause) {
      throw badCursor(cause);
    }
    requireGiven(bodyOf(value) === body);
    return { value, isSealed: seal !== undefined };
  },
});
