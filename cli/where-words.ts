import type { Failure } from './failure.ts';
import { shellWord } from './options.ts';
import type { TargetFlags } from './target/select.ts';

const whereWords = ({ data, local, aws }: TargetFlags): string[] => [
  ...(data === undefined ? [] : ['--data', shellWord(data)]),
  ...(local === true ? ['--local'] : []),
  ...(aws === true ? ['--aws'] : []),
];

/** A command in a text, or a quoted part, which a person wrote and which stays as it is. */
const COMMAND_OR_QUOTED = /\bwalkback (?=[a-z])|\\'|'[^']*'/g;

/**
 * Every command that is printed for copying must reach the same cloud as the command that prints it. So the
 * flags that say where the functions run are added after each `walkback` in the text. A command that has such
 * flags already is left as it is.
 */
export const withWhere = (text: string, flags: TargetFlags): string =>
  text.replaceAll(COMMAND_OR_QUOTED, (found, at: number) => {
    if (!found.startsWith('walkback')) return found;
    // These are about the cloud of this machine, wherever the functions run.
    const isOfMachine = /^(?:up|down)\b/.test(text.slice(at + found.length));
    const words = whereWords(isOfMachine ? { data: flags.data } : flags);
    return [found.trimEnd(), ...words, ''].join(' ');
  });

/** The hint of an error is printed for copying too. */
export const failureThere = (failure: Failure, flags: TargetFlags): Failure =>
  failure.hint === undefined ? failure : { ...failure, hint: withWhere(failure.hint, flags) };
