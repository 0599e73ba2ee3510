/** File in the data directory with one line for each batch that a function did not accept. */
export const DEAD_LETTERS_FILE = 'dead-letters.jsonl';
