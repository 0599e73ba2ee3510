import { shellWord } from './options.ts';
import type { TargetFlags } from './target/select.ts';

/** What a command was told about where the functions run. Each command that it prints to be copied has these words too. */
export const whereWords = ({ data, local, aws }: TargetFlags): string[] => [
  ...(data === undefined ? [] : ['--data', shellWord(data)]),
  ...(local === true ? ['--local'] : []),
  ...(aws === true ? ['--aws'] : []),
];
