import type { Command } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { composing } from '../composing.ts';
import { epochOption } from '../decided.ts';
import { CliError } from '../failure.ts';
import { collectPaths, parseId, shellWord } from '../options.ts';
import { helpText } from '../terminal/help-text.ts';

interface Options {
  into?: string;
  path?: string[];
  markers?: boolean;
  allowMarkers?: boolean;
  expectUnchanged?: boolean;
  request?: string;
  epoch?: number;
  fromCheckpoint?: string;
  dryRun?: boolean;
  yes?: boolean;
}

const EXAMPLES = `
Examples:
  walkback merge FORK --dry-run            what would come into its source, and conflicts
  walkback merge FORK                      shows the plan, asks, does it
  walkback merge SOURCE --into FORK --markers   the source's work comes into the fork, with
                                           conflicts between markers, to be resolved there
  walkback merge FORK --expect-unchanged   only if what comes is exactly what the fork holds

Every repository merges, or nothing is changed. A merge brings what the fork's last
checkpoint holds, so take one first: walkback checkpoint --session FORK --message ...`;

/** The session that a fork began in. */
const sourceOf = async (run: Run, from: string): Promise<string> => {
  const { session } = await run.invoke('walkback-timeline', { sessionId: from, limit: 1 });
  if (session.forkedFrom?.sessionId !== undefined) return session.forkedFrom.sessionId;
  throw new CliError(
    'InvalidInput',
    `Session ${from} is no fork, so nothing says where its work comes into.`,
    {
      hint: 'name that session: walkback merge SOURCE --into FORK; walkback session list shows them',
    },
  );
};

const act = async (run: Run, from: string, options: Options): Promise<Answer> => {
  const into = options.into ?? (await sourceOf(run, from));
  const requestId = options.request ?? freshId('merge');
  const { path: paths } = options;
  const input = {
    from,
    into,
    requestId,
    ...(paths === undefined ? {} : { paths }),
    ...(options.markers === true ? { markers: true } : {}),
    ...(options.allowMarkers === true ? { allowMarkers: true } : {}),
    ...(options.expectUnchanged === true ? { expectUnchanged: true } : {}),
  };
  return composing(run, {
    sessionId: into,
    requestId,
    epoch: options.epoch,
    fromCheckpointId: options.fromCheckpoint,
    dryRun: options.dryRun === true,
    yes: options.yes === true,
    title: `merge ${from} into ${into}`,
    done: `Merged ${from} into ${into}, as`,
    question: `Merge ${from}`,
    words: [
      'walkback merge',
      from,
      '--into',
      into,
      ...(paths ?? []).flatMap((path) => ['--path', shellWord(path)]),
      ...(options.markers === true ? ['--markers'] : []),
      ...(options.allowMarkers === true ? ['--allow-markers'] : []),
      ...(options.expectUnchanged === true ? ['--expect-unchanged'] : []),
    ],
    ask: (how) => run.invoke('walkback-merge', { ...input, ...how }),
  });
};

export const defineMerge = (merge: Command, app: App): void => {
  merge
    .description(
      "Bring the work of a fork into its source, or the source's into a fork: all repositories or none.",
    )
    .argument('<from>', 'the session whose work is merged', parseId)
    .option('--into <id>', 'the session that it comes into (default: what the fork began in)', parseId)
    .option('--path <path>', 'only this file, directory or repository; may be given again', collectPaths)
    .option('--markers', 'only into a fork: write conflicts into its files')
    .option('--allow-markers', 'also merge files that still have conflict markers')
    .option(
      '--expect-unchanged',
      'refuse (TargetMoved) unless the target is as it was when the fork began, or was merged last',
    )
    .option('--dry-run', 'show the plan only')
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .addOption(epochOption())
    .option(
      '--from-checkpoint <id>',
      'refuse (SourceMoved) unless this is still the last checkpoint of the session whose work is merged',
      parseId,
    )
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', helpText(EXAMPLES))
    .action((from: string, options: Options, command: Command) =>
      withConnection(app, command, (run) => act(run, from, options)),
    );
};
