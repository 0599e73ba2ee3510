import { isAbsolute, posix, relative, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { blameAnywhere } from '../../client/blame-copy.ts';
import { freshId } from '../../client/ids.ts';
import { directoryIn } from '../../client/sandbox-places.ts';
import type { BlameAnswer } from '../../contract/blame.ts';
import type { RequestOf } from '../../contract/invoke.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { parseId, shellWord } from '../options.ts';
import { resolveDiffSide } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { blameText } from '../view/blame-view.ts';
import { withWhere } from '../where-words.ts';

type Lines = NonNullable<RequestOf<'blame'>['lines']>;

interface Options {
  session?: string;
  sandbox?: string;
  repository?: string;
  at?: string;
  lines?: Lines;
}

const EXAMPLES = `
The path is relative to the projects root, or to a repository that alone has such a file.

Examples:
  walkback blame api/src/price.ts
  walkback blame src/price.ts --repository api --lines 10,40
  walkback blame api/src/price.ts --at msg-2   the file as message msg-2 left it`;

const parseLines = (text: string): Lines => {
  const [, from = '', comma, to = ''] = /^(\d{1,8})(?:(,)(\d{0,8}))?$/.exec(text) ?? [];
  const first = Number(from);
  const last = comma === undefined ? first : to === '' ? undefined : Number(to);
  if (from !== '' && first > 0 && (last === undefined || last >= first))
    return { from: first, ...(last !== undefined && { to: last }) };
  throw new InvalidArgumentError('Use 10,40 (from, to), 10, (to the end) or 10 (one line); the first is 1.');
};

/** The projects root, and where its files are on this machine; those of a fork are elsewhere. */
const rootsOf = async (
  { sandboxes }: Run,
  { projectsRoot, sandboxId }: { projectsRoot: string; sandboxId: string },
): Promise<string[]> => {
  // Of a sandbox that is gone nothing is here.
  const places = await sandboxes?.places(sandboxId).catch(() => undefined);
  return places === undefined ? [projectsRoot] : [directoryIn(places, projectsRoot), projectsRoot];
};

/** A path that is absolute, or begins with `.`, is one of this machine, or of the sandbox. */
const pathIn = async (run: Run, sessionId: string, path: string): Promise<string> => {
  if (!isAbsolute(path) && !/^\.\.?(?:\/|$)/.test(path)) return posix.normalize(path === '' ? '.' : path);
  const { session } = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
  for (const root of await rootsOf(run, session)) {
    const inside = relative(root, resolve(run.terminal.cwd, path));
    if (inside !== '..' && !inside.startsWith('../') && !isAbsolute(inside))
      return inside === '' ? '.' : inside;
  }
  throw new CliError(
    'InvalidInput',
    `${path} is outside of ${session.projectsRoot}, where the session has its repositories.`,
    { hint: 'name a file below that directory' },
  );
};

/** The command that shows the rest. */
const restCommand = ({ options }: Run, request: RequestOf<'blame'>, answer: BlameAnswer): string => {
  const { sessionId, at, sandboxId, lines } = request;
  const words = ['walkback', 'blame', shellWord(answer.path), '--session', sessionId];
  words.push('--repository', shellWord(answer.repository));
  if (at !== undefined) words.push('--at', at);
  if (sandboxId !== undefined) words.push('--sandbox', sandboxId);
  words.push('--lines', `${answer.nextLine ?? 1},${lines?.to ?? ''}`);
  return withWhere(words.join(' '), options);
};

const requestOf = async (run: Run, path: string, options: Options): Promise<RequestOf<'blame'>> => {
  const sessionId = await resolveSession(run, options.session);
  const { repository, sandbox, at, lines } = options;
  return {
    sessionId,
    path: repository === undefined ? await pathIn(run, sessionId, path) : path,
    ...(repository === undefined ? {} : { repository }),
    ...(at === undefined ? {} : { at: await resolveDiffSide(run.invoke, sessionId, at) }),
    ...(sandbox === undefined ? {} : { sandboxId: sandbox }),
    ...(lines === undefined ? {} : { lines }),
  };
};

export const defineBlame = (blame: Command, app: App): void => {
  blame
    .description(
      'Show for each line of a file the message and tool call that wrote it, as git blame shows commits. Forks and merges ' +
        'are followed. Lines from before the session name the commit of the repository. What a checkout or merge of git ' +
        'brought in during the session is told as the work of its message.',
    )
    .argument('<path>', 'a file in one of the repositories')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--at <point>', 'a message id, a checkpoint id (cp-7 will do), head or now (default: now)')
    .option('--repository <path>', 'the repository that the file is in')
    .option('--lines <from,to>', 'only these lines (default: all, at most 2,000)', parseLines)
    .option('--sandbox <id>', "a review copy's sandbox (default: the session's)", parseId)
    .addHelpText('after', helpText(EXAMPLES))
    .action((path: string, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const request = await requestOf(run, path, options);
        const answer = await run.progress('Reading who wrote it', () =>
          blameAnywhere(
            {
              blame: (asked) => run.invoke('walkback-blame', asked),
              rehydrate: (asked) => run.invoke('walkback-rehydrate', asked),
              freshId,
            },
            request,
          ),
        );
        return {
          value: answer,
          text: () =>
            blameText(answer, run.paint, {
              now: run.terminal.now(),
              ...(answer.nextLine !== undefined && { rest: restCommand(run, request, answer) }),
            }),
          isLong: true,
        };
      }),
    );
};
