import { sha256Hex } from '../../shared/ids.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json | undefined };

/** JSON with sorted names and without undefined: equal meanings give equal texts. */
const canonical = (value: Json | undefined): string => {
  if (value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const names = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
};

/** Hash of a request's content, without its id. The same id with another hash is a different request. */
export const requestHash = (meaning: { [name: string]: Json | undefined }): string =>
  sha256Hex(canonical(meaning));
