import { type Command, Option } from 'commander';
import type { App, GlobalOptions } from '../app.ts';
import { ACTS, isAct, PLAYED } from '../demo/acts.ts';

export const defineDemo = (demo: Command, app: App): void => {
  demo
    .description(
      'Play the main jobs in a temporary directory with its own embedded cloud. checkpoints: an agent works in four ' +
        'real repositories, its sandbox dies, the session is rehydrated and rolled back. refund: a saga is undone, and ' +
        'an operator repairs another one that could not be undone. gang: three agents work for one saga, and a reviewer rewinds it. ' +
        'changesets: three agents work in forks of one session, a queue merges them, and one message is taken back. ' +
        'Hashes of every repository prove it; exit code 1 when any of them differs. Leaves nothing behind.',
    )
    .addOption(
      new Option('--act <name...>', `play these acts only (default: ${PLAYED.join(', ')})`).choices(ACTS),
    )
    .option('--keep', 'keep the temporary directory, to look around in it')
    .action(async (options: { act?: string[]; keep?: boolean }, command: Command) => {
      const { json } = command.optsWithGlobals<GlobalOptions>();
      // Loaded only when needed: otherwise every other command would load it too.
      const { performDemo } = await import('../demo/perform.ts');
      const acts = options.act?.filter(isAct) ?? PLAYED;
      await performDemo(app, { json: json === true, keep: options.keep === true, acts });
    });
};
