import type { Command } from 'commander';
import type { App, GlobalOptions } from '../app.ts';

export const defineDemo = (demo: Command, app: App): void => {
  demo
    .description(
      'Play the main job in a temporary directory with its own embedded cloud: an agent works in four real ' +
        'repositories, its sandbox dies, the session is rehydrated and rolled back, and the hashes of every ' +
        'repository prove it. Exit code 1 when any of them differs. Leaves nothing behind.',
    )
    .option('--keep', 'keep the temporary directory, to look around in it')
    .action(async (options: { keep?: boolean }, command: Command) => {
      const { json } = command.optsWithGlobals<GlobalOptions>();
      // Loaded only when it is needed: every other command would pay for it too.
      const { performDemo } = await import('../demo/perform.ts');
      await performDemo(app, { json: json === true, keep: options.keep === true });
    });
};
