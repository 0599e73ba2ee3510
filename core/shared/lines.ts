/**
 * Cuts text that arrives in arbitrary pieces into lines. The last line may lack its newline. Each character
 * is examined once, however many pieces a line came in: pieces of an unfinished line are kept and joined at
 * its end.
 *
 * Only a newline ends a line. Node's `readline` also cuts at U+2028, U+2029 and a lone carriage return, and
 * the first two may occur in any JSON text.
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
