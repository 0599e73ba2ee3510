/** `1 file`, `2 files`, `0 files`. For words whose plural does not just add an s, `many` gives it. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
