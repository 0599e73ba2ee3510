import type { Command } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { BisectSessionAnswer } from '../../contract/bisect.ts';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import type { RequestOf } from '../../contract/invoke.ts';
import { POINT_ERRORS, searchWords } from '../../present/bisect-words.ts';
import { printableLine } from '../../present/text.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError, describeFailure } from '../failure.ts';
import { parseId, parseWholeNumber, shellWord } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { bisectText, outputLines } from '../view/bisect-view.ts';
import { watching } from '../watching.ts';
import { withWhere } from '../where-words.ts';

interface Options {
  session?: string;
  command: string;
  good?: string;
  bad?: string;
  repository?: string;
  timeout: number;
  template?: string;
  allowPartial?: boolean;
  request?: string;
}

type Search = RequestOf<'bisect-session'> & { requestId: string };

const EXAMPLES = `
The command runs in fresh copies of checkpoints, three at a time. It says by its exit code what a checkpoint is:
  0    good
  125  it cannot be judged, and is skipped
  else bad, also when it takes longer than --timeout

Examples:
  walkback bisect --command "npm ci && npm test"
  walkback bisect --command "npm test" --repository api --good msg-2 --bad msg-9
  walkback bisect --command "make || exit 125; ./check.sh"

What no checkpoint holds is not tried: take one first. Exit code 1 when only candidates are left.`;

/** A search that was cut off by the end of its call goes on in the next. */
const searched = async (run: Run, search: Search): Promise<BisectSessionAnswer> => {
  for (;;) {
    try {
      return await run.invoke('walkback-bisect-session', search);
    } catch (error) {
      if (describeFailure(error).name !== 'StillRunning') throw error;
      run.signal.throwIfAborted();
    }
  }
};

/** Something that the result stands without: what failed is said. */
const beside = <T>(run: Run, what: string, reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    run.note(`${what} could not be read: ${describeFailure(error).message}`);
    return undefined;
  });

/** What the command wrote at an end. The error itself has no output, because errors are logged. */
const showOutput = async (run: Run, { sessionId, requestId }: Search, message: string): Promise<void> => {
  const told = await beside(
    run,
    'What the command wrote there',
    run.invoke('walkback-progress', { sessionId, requestId }),
  );
  for (const one of told?.search?.tried ?? []) {
    if (one.output !== undefined && message.includes(one.checkpointId))
      run.note(outputLines(one, sessionId, run.paint).join('\n'));
  }
};

/** The command that continues this same search, or answers it again. */
const sameCommand = ({ options }: Run, search: Search): string => {
  const { sessionId, command, good, bad, repository, timeoutSeconds, template, allowPartial, requestId } =
    search;
  const words = ['walkback', 'bisect', '--session', sessionId, '--command', shellWord(command)];
  if (good !== undefined) words.push('--good', good);
  if (bad !== undefined) words.push('--bad', bad);
  if (repository !== undefined) words.push('--repository', shellWord(repository));
  if (timeoutSeconds !== undefined) words.push('--timeout', String(timeoutSeconds));
  if (template !== undefined) words.push('--template', template);
  if (allowPartial === true) words.push('--allow-partial');
  return withWhere([...words, '--request', requestId].join(' '), options);
};

const pointIn = async (run: Run, sessionId: string, text: string): Promise<string> => {
  if (text === 'now')
    throw new CliError(
      'InvalidInput',
      'What no checkpoint holds is not tried. Take one first (walkback checkpoint), and leave --bad out.',
    );
  const target = await resolveTarget(run.invoke, sessionId, text);
  return 'checkpointId' in target ? target.checkpointId : target.messageId;
};

const searchOf = async (run: Run, options: Options): Promise<Search> => {
  const sessionId = await resolveSession(run, options.session);
  const {
    command,
    good,
    bad,
    repository,
    timeout: timeoutSeconds,
    template,
    allowPartial,
    request,
  } = options;
  if (command.trim() === '')
    throw new CliError('InvalidInput', '--command: give the command to run, for example "npm test".');
  return {
    sessionId,
    command,
    ...(good === undefined ? {} : { good: await pointIn(run, sessionId, good) }),
    ...(bad === undefined ? {} : { bad: await pointIn(run, sessionId, bad) }),
    ...(repository === undefined ? {} : { repository }),
    timeoutSeconds,
    ...(template === undefined ? {} : { template }),
    ...(allowPartial === undefined ? {} : { allowPartial }),
    requestId: request ?? freshId('bisect'),
  };
};

/** What the found checkpoint changed. */
const changesOf = async (run: Run, answer: BisectSessionAnswer): Promise<ChangesAnswer | undefined> => {
  const [suspect] = answer.suspects;
  if (answer.outcome !== 'found' || suspect === undefined) return undefined;
  const { sessionId, checkpointId } = suspect;
  return beside(run, 'What it changed', run.invoke('walkback-changes', { sessionId, checkpointId }));
};

export const defineBisect = (bisect: Command, app: App): void => {
  bisect
    .description(
      'Find the message and tool call that broke something: a binary search over the checkpoints, with a command that ' +
        'runs in fresh copies. A fork is followed back into its source, and a merge into what it brought.',
    )
    .requiredOption('--command <bash>', 'succeeds where nothing is broken; 125 skips')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option(
      '--good <point>',
      'message or checkpoint id where it succeeds (default: where the conversation began)',
    )
    .option('--bad <point>', 'message or checkpoint id where it fails (default: where the session stands)')
    .option('--repository <path>', 'run it in this repository (default: in the projects root)')
    .option('--timeout <seconds>', 'of the command, at one checkpoint', parseWholeNumber(1, 600), 300)
    .option('--template <name>', "sandbox template (default: the session's)")
    .option('--allow-partial', 'also try checkpoints that are not complete')
    .option('--request <id>', 'request id, to go on with the same search', parseId)
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const search = await searchOf(run, options);
        const { sessionId, requestId } = search;
        run.underway({
          message: 'The search goes on to the end of its call; what was tried is kept.',
          hint: `${sameCommand(run, search)} goes on with it`,
        });
        const how = async (): Promise<string | undefined> => {
          const told = await run.invoke('walkback-progress', { sessionId, requestId });
          return told.search ? printableLine(searchWords(told.search)) : undefined;
        };
        let answer: BisectSessionAnswer;
        try {
          answer = await watching(run, 'Searching', () => searched(run, search), how);
        } catch (error) {
          const { name, message } = describeFailure(error);
          if (POINT_ERRORS.includes(name)) await showOutput(run, search, message);
          throw error;
        }
        const changes = await changesOf(run, answer);
        return {
          value: { ...answer, ...(changes && { changes: changes.checkpoints }) },
          text: () => bisectText(answer, changes, run.paint),
          isLong: true,
          failure:
            answer.outcome === 'found'
              ? undefined
              : new CliError('OnlyCandidates', 'Only checkpoints that could not be judged are left between.'),
        };
      }),
    );
};
