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

/** What a request means, apart from its id: the same id with another hash is another request. */
export const requestHash = (meaning: { [name: string]: Json | undefined }): string =>
  sha256Hex(canonical(meaning));
