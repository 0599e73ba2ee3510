/** The first `a.b` in a text, as numbers. */
const versionIn = (text: string): [number, number] | undefined => {
  const match = /(\d+)\.(\d+)/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
};

/** Whether the first version that a text names is at least this one. */
export const isAtLeast = (text: string, [major, minor]: readonly [number, number]): boolean => {
  const version = versionIn(text);
  if (version === undefined) return false;
  return version[0] > major || (version[0] === major && version[1] >= minor);
};
