import { randomUUID } from 'node:crypto';

/** Most codes that nobody has fetched. The oldest is dropped. */
const MAX_CODES = 100;

export interface Codes<Kept> {
  add(kept: Kept): string;
  /** Works once for each code. */
  take(code: string): Kept | 'expired' | undefined;
}

export const createCodes = <Kept>({ seconds, now }: { seconds: number; now: () => number }): Codes<Kept> => {
  const codes = new Map<string, { kept: Kept; untilMs: number }>();
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
