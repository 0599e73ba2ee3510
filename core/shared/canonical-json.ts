import { sha256Hex } from './ids.ts';

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
};

/** JSON with sorted members: equal values give equal text, however they were built. */
export const canonicalJson = (value: unknown): string => canonical(value);

/** SHA-256 of the canonical text, lower-case hex. */
export const hashJson = (value: unknown): string => sha256Hex(canonical(value));
