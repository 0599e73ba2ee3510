import type { Command } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { RevertInput } from '../../contract/checkpoint-inputs.ts';
import { listSome } from '../../present/text.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { composing } from '../composing.ts';
import { epochOption } from '../decided.ts';
import { CliError } from '../failure.ts';
import { collectPaths, parseId, shellWord } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';

interface Options {
  session?: string;
  path?: string[];
  request?: string;
  epoch?: number;
  dryRun?: boolean;
  yes?: boolean;
}

const EXAMPLES = `
Examples:
  walkback revert msg-2 --dry-run      what taking back message msg-2 would change
  walkback revert msg-2                shows the plan, asks, does it; later work stays
  walkback revert cp-5 cp-7            what these two checkpoints changed
  walkback revert --path api/src       all that the session did there

Where later work changed the same places, nothing is changed, and they are named.
What is there now is captured first, so a revert can be undone.`;

type What = Pick<RevertInput, 'messageId' | 'checkpointIds'>;

/** The points that a person names: one message, or checkpoints. */
const whatOf = async (run: Run, sessionId: string, points: readonly string[]): Promise<What> => {
  const targets = await Promise.all(points.map((point) => resolveTarget(run.invoke, sessionId, point)));
  const [first] = targets;
  if (first === undefined) return {};
  if ('messageId' in first && targets.length === 1) return first;
  const checkpointIds = targets.flatMap((one) => ('checkpointId' in one ? one.checkpointId : []));
  if (checkpointIds.length === targets.length) return { checkpointIds };
  throw new CliError('InvalidInput', 'Name one message, or one or more checkpoints.');
};

const act = async (run: Run, points: readonly string[], options: Options): Promise<Answer> => {
  const sessionId = await resolveSession(run, options.session);
  const paths = options.path;
  if (points.length === 0 && paths === undefined) {
    throw new CliError('InvalidInput', 'Name a message, checkpoints or --path.');
  }
  const requestId = options.request ?? freshId('revert');
  const input = {
    ...(await whatOf(run, sessionId, points)),
    sessionId,
    requestId,
    ...(paths === undefined ? {} : { paths }),
  };
  const named = listSome(points.length > 0 ? points : (paths ?? []), 4);
  return composing(run, {
    sessionId,
    requestId,
    epoch: options.epoch,
    dryRun: options.dryRun === true,
    yes: options.yes === true,
    title: `take back ${named}, keep later work`,
    done: `Took back ${named}, as`,
    question: `Take back ${named}`,
    words: [
      'walkback revert',
      ...points.map((point) => shellWord(point)),
      '--session',
      sessionId,
      ...(paths ?? []).flatMap((path) => ['--path', shellWord(path)]),
    ],
    ask: (how) => run.invoke('walkback-revert', { ...input, ...how }),
  });
};

export const defineRevert = (revert: Command, app: App): void => {
  revert
    .description('Take back what one message or some checkpoints changed, and keep what came later.')
    .argument('[point...]', 'a message id, or checkpoint ids (cp-7 will do)')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--path <path>', 'only in this file, directory or repository; may be given again', collectPaths)
    .option('--dry-run', 'show the plan only')
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .addOption(epochOption())
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', helpText(EXAMPLES))
    .action((points: string[], options: Options, command: Command) =>
      withConnection(app, command, (run) => act(run, points, options)),
    );
};
