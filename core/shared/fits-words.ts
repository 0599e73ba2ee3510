/** Says whether texts hold all words that a person looks for. */

/** One spelling of each character, in lower case. */
export const folded = (text: string): string => text.normalize('NFC').toLowerCase();

export const wordsOf = (asked: string): string[] => folded(asked).split(/\s+/).filter(Boolean);

/** Each word has to be in one of the texts, in any order and case. */
export const fitsWords = (asked: string): ((...texts: readonly (string | undefined | null)[]) => boolean) => {
  const words = wordsOf(asked);
  return (...texts) => {
    const text = folded(texts.join('\n'));
    return words.length > 0 && words.every((word) => text.includes(word));
  };
};
