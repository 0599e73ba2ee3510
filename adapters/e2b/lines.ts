/** Cuts text that arrives in arbitrary pieces into lines. The last one may lack its newline. */
export const createLineSplitter = (onLine: (line: string) => void) => {
  let rest = '';
  return {
    push(text: string): void {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    },
    /** Call it when the output is complete. */
    end(): void {
      const last = rest;
      rest = '';
      if (last !== '') onLine(last);
    },
  };
};
