/**
 * Cuts text that arrives in arbitrary pieces into lines. The last one may lack its newline. Each character is looked at once,
 * however many pieces a line came in: what is unfinished is kept in pieces and put together when its end is there.
 */
export const createLineSplitter = (onLine: (line: string) => void) => {
  let pieces: string[] = [];
  const finish = (last: string): void => {
    const line = pieces.length === 0 ? last : pieces.concat(last).join('');
    pieces = [];
    onLine(line);
  };
  return {
    push(text: string): void {
      const lines = text.split('\n');
      const rest = lines.pop() ?? '';
      for (const line of lines) finish(line);
      if (rest !== '') pieces.push(rest);
    },
    /** Call it when the output is complete. */
    end(): void {
      if (pieces.length > 0) finish('');
    },
  };
};
