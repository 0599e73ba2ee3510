import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** State of a fake service: in memory, and in a file when there is one, so that it outlives its process. */
export interface Kept<State> {
  state: State;
  save: () => void;
}

export const keep = <State>(empty: State, file?: string): Kept<State> => {
  const state: State =
    file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : empty;
  const save = () => {
    if (file === undefined) return;
    writeFileSync(`${file}.new`, JSON.stringify(state));
    renameSync(`${file}.new`, file);
  };
  return { state, save };
};

export interface ServiceOptions {
  now?: () => number;
  file?: string;
}
