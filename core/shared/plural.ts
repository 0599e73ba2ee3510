/** `1 file`, `2 files`, `0 files`; words whose plural is not one letter more name it. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
