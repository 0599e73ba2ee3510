/** In the data directory, a line for each batch that a function did not take. */
export const DEAD_LETTERS_FILE = 'dead-letters.jsonl';
