/** Random choices of one world: the same for the same seed. */
import { sha256Hex } from '../../../core/shared/ids.ts';

export const randomOf = (seed: number) => {
  /** From 0 up to 1. Always the same for the same parts, whatever was drawn before. */
  const at = (...parts: readonly (string | number)[]): number =>
    Number.parseInt(sha256Hex(JSON.stringify([seed, ...parts])).slice(0, 8), 16) / 2 ** 32;
  let drawn = 0;
  const next = (): number => {
    drawn += 1;
    return at('drawn', drawn);
  };
  const pickAt = <T>(place: number, list: readonly T[]): T => {
    const found = list[Math.floor(place * list.length)];
    if (found === undefined) throw new Error('there is nothing to choose from');
    return found;
  };
  return {
    at,
    next,
    pickAt,
    chance: (share: number): boolean => next() < share,
    pick: <T>(list: readonly T[]): T => pickAt(next(), list),
    between: (least: number, most: number): number => least + Math.floor(next() * (most - least + 1)),
  };
};

export type Random = ReturnType<typeof randomOf>;
