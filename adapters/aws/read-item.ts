/** Checks stored items when they are read. An item that is not what we wrote is an error that names it. */
import * as z from 'zod';
import type { ErrorName } from '../../contract/errors.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { Stored } from './table-reads.ts';

const MAX_NAMED = 5;

interface StoredKind {
  /** Name of the table for people: `Sagas`. */
  table: string;
  error: ErrorName;
  /** What to do, in one sentence. */
  advice: (item: Stored) => string;
}

/**
 * The names of the fields that a schema refuses. A field that is missing in an object is named by that
 * object.
 */
export const refusedFields = (error: z.ZodError): string[] => [
  ...new Set(
    error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'item'],
    ),
  ),
];

const unreadable = ({ table, error, advice }: StoredKind, item: Stored, cause: unknown): WalkbackError => {
  const { pk, sk } = item;
  const fields = cause instanceof z.ZodError ? refusedFields(cause) : [];
  const named = fields.length === 0 ? '' : ` (${fields.slice(0, MAX_NAMED).join(', ')})`;
  return new WalkbackError(
    error,
    `${String(pk)} ${String(sk)} in the ${table} table is not what Walkback wrote there${named}. Nothing was changed. ${advice(item)}`,
    { cause, details: { table, pk, sk, fields } },
  );
};

/** A reader of items of one kind. Whatever `read` throws becomes the error of that kind. */
export const itemReader =
  <T>(kind: StoredKind, read: (item: Stored) => T) =>
  (item: Stored): T => {
    try {
      return read(item);
    } catch (cause) {
      throw unreadable(kind, item, cause);
    }
  };

/**
 * Checks a value and answers it as it was, so that nothing that another release wrote is lost. Throws a
 * `ZodError`.
 */
export const checked = <T>(schema: z.ZodType<T>, value: unknown): T => {
  schema.parse(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has seen it
  return value as T;
};
