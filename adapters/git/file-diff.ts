/** The lines of one file between two captures, with as many lines around them as were asked for. Pure. */

export interface FileDiff {
  diff: string;
  added: number;
  deleted: number;
}

/** The text and its counts. A text that was cut ends with a whole line. */
export const fileDiffOf = (text: string, truncated: boolean): FileDiff => {
  const diff = truncated ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  const lines = diff.slice(Math.max(0, diff.indexOf('\n@@'))).split('\n');
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  const isText = diff.includes('\n@@');
  return { diff, added: isText ? count('+') : 0, deleted: isText ? count('-') : 0 };
};
