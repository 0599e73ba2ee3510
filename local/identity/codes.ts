import { randomUUID } from 'node:crypto';

/** Most codes that nobody has fetched. The oldest is dropped. */
const MAX_CODES = 100;

export interface Codes<Value> {
  add(kept: Value): string;
  /** Works once for each code. */
  take(code: string): Value | 'expired' | undefined;
}

export const createCodes = <Value>({
  seconds,
  now,
}: {
  seconds: number;
  now: () => number;
}): Codes<Value> => {
  const codes = new Map<string, { kept: Value; untilMs: number }>();
  return {
    add: (kept) => {
      const code = randomUUID();
      codes.set(code, { kept, untilMs: now() + seconds * 1000 });
      for (const old of [...codes.keys()].slice(0, -MAX_CODES)) codes.delete(old);
      return code;
    },
    take: (code) => {
      const found = codes.get(code);
      codes.delete(code);
      if (found === undefined) return undefined;
      return found.untilMs < now() ? 'expired' : found.kept;
    },
  };
};
