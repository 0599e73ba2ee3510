import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { StartSessionAnswer } from '../../contract/checkpoint-answers.ts';
import type { StartSessionInput } from '../../contract/checkpoint-inputs.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError, isCliError } from '../failure.ts';
import { underwayAs } from '../interruption.ts';
import {
  collectMetadata,
  parseBytes,
  parseDirectory,
  parseId,
  parseWholeNumber,
  sessionIdFor,
} from '../options.ts';
import type { LocalSandboxes } from '../sandboxes.ts';
import { helpText } from '../terminal/help-text.ts';
import { startedSession } from '../view/session-views.ts';
import { withProgress } from '../with-progress.ts';

interface Options {
  root: string;
  id?: string;
  sandbox?: string;
  template?: string;
  include?: string[];
  exclude?: string[];
  maxFileBytes?: number;
  loose?: boolean;
  retentionDays?: number;
  metadata?: Record<string, string>;
  tenant?: string;
  project?: string;
}

const incomplete = ({ sessionId, checkpointId }: StartSessionAnswer): CliError =>
  new CliError(
    'CheckpointIncomplete',
    `Session ${sessionId} was started, but its baseline ${checkpointId} lacks what is said above to be not captured.`,
  );

type Input = StartSessionInput & { sessionId: string };

const EXAMPLES = `
Examples:
  walkback session start --root ~/work
  walkback session start --root . --include .env --retention-days 7
  walkback session start --root notes            a directory without git
  walkback session start --aws --sandbox ID --root /home/user/projects`;

/**
 * Optional fields are left out and not sent as undefined, because functions refuse fields that they do not
 * know.
 */
const startInput = (options: Options, sandboxId: string, projectsRoot: string): Input => {
  const { include, exclude, template, maxFileBytes, retentionDays, metadata, tenant, project } = options;
  const { loose: looseFiles } = options;
  const optional = {
    include,
    exclude,
    template,
    maxFileBytes,
    looseFiles,
    retentionDays,
    metadata,
    tenant,
    project,
  };
  return {
    sessionId: options.id ?? sessionIdFor(projectsRoot),
    sandboxId,
    projectsRoot,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
};

const realDirectory = async (directory: string): Promise<string> => {
  const facts = await stat(directory).catch(() => undefined);
  const hint = 'give a directory that is there: --root DIRECTORY';
  if (facts === undefined)
    throw new CliError('ProjectsRootNotFound', `${directory} does not exist.`, { hint });
  if (!facts.isDirectory())
    throw new CliError('ProjectsRootNotFound', `${directory} is not a directory.`, { hint });
  return realpath(directory);
};

const startInSandbox = async (run: Run, input: Input): Promise<StartSessionAnswer> => {
  run.underway(underwayAs(input.sessionId, 'id'));
  return withProgress(run, input.sessionId, `Taking the baseline of ${input.projectsRoot}`, () =>
    run.invoke('walkback-start-session', input),
  );
};

/**
 * The sandbox of the session that already has this id, if it works in the directory itself. With it, the
 * request equals that of the first start, if nothing else differs, and so finds that session.
 */
const sandboxBefore = async (
  run: Run,
  sandboxes: LocalSandboxes,
  sessionId: string,
  root: string,
): Promise<string | undefined> => {
  try {
    const { session } = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
    const { mounts } = await sandboxes.places(session.sandboxId);
    return session.projectsRoot === root && mounts[root] === root ? session.sandboxId : undefined;
  } catch (error) {
    if (isCliError(error, 'SessionNotFound') || isCliError(error, 'SandboxNotFound')) return undefined;
    throw error;
  }
};

/**
 * Starts a session in a directory of this machine: makes a sandbox that is mounted on it, then calls the same
 * function.
 */
const startOnDirectory = async (
  run: Run,
  options: Options,
): Promise<{ input: Input; answer: StartSessionAnswer }> => {
  const { sandboxes } = run;
  if (sandboxes === undefined) {
    throw new CliError('InvalidInput', 'On AWS a session needs --sandbox ID.', {
      hint: 'name a running E2B sandbox, or use the embedded cloud with --local',
    });
  }
  const root = await realDirectory(resolve(run.terminal.cwd, options.root));
  if (root === '/') throw new CliError('InvalidInput', '--root must not be the root of the file system.');
  const startBefore = async () => {
    if (options.id === undefined) return undefined;
    const before = await sandboxBefore(run, sandboxes, options.id, root);
    if (before === undefined) return undefined;
    const input = startInput(options, before, root);
    return { input, answer: await startInSandbox(run, input) };
  };
  const found = await startBefore();
  if (found !== undefined) return found;
  const sandboxId = await sandboxes.createOver(root, { 'walkback-cli': 'mounted' });
  const input = startInput(options, sandboxId, root);
  try {
    return { input, answer: await startInSandbox(run, input) };
  } catch (error) {
    // This removes only the record of the mount. The directory is the person's own.
    await sandboxes.kill(sandboxId);
    // Somebody else may have started the session meanwhile, in another sandbox.
    const other = isCliError(error, 'SessionConflict') ? await startBefore() : undefined;
    if (other !== undefined) return other;
    throw error;
  }
};

export const addSessionStart = (parent: Command, app: App): void => {
  parent
    .command('start')
    .summary('start a session and take its baseline checkpoint')
    .description(
      'Start a session and take its baseline checkpoint. With the embedded cloud, --root is a directory of ' +
        'this machine that holds git repositories, is one, or is to be captured without; nothing in it is changed, and an invisible ' +
        '.agent-shadow directory keeps the captures. On AWS, name the E2B sandbox with --sandbox.',
    )
    .requiredOption('--root <dir>', 'directory that holds the repositories', parseDirectory)
    .option('--id <id>', 'session id (default: made from the directory name)', parseId)
    .option('--sandbox <id>', 'E2B sandbox that holds --root', parseId)
    .option('--template <name>', 'sandbox template to rehydrate with')
    .option('--include <pattern...>', 'capture these although git ignores them')
    .option('--exclude <pattern...>', 'never capture these')
    .option('--max-file-bytes <size>', 'leave larger untracked files out (5MiB, 200M, ...)', parseBytes)
    .option('--loose', 'also capture files in no repository (default: where there is no repository)')
    .option('--no-loose', 'refuse a directory without a repository')
    .option('--retention-days <days>', 'keep the session this long after it ends', parseWholeNumber(1, 3650))
    .option('--metadata <key=value>', 'note something with the session; repeatable', collectMetadata)
    .option('--tenant <id>', 'share stored histories with the sessions of this tenant', parseId)
    .option('--project <name>', 'project of its sagas, unless one names its own')
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const started =
          options.sandbox === undefined
            ? await startOnDirectory(run, options)
            : await (async () => {
                const input = startInput(options, options.sandbox ?? '', options.root);
                return { input, answer: await startInSandbox(run, input) };
              })();
        const { input, answer } = started;
        return {
          value: { ...answer, sandboxId: input.sandboxId, projectsRoot: input.projectsRoot },
          text: () => startedSession(answer, input, { paint: run.paint, where: run.options }),
          failure: answer.complete ? undefined : incomplete(answer),
        };
      }),
    );
};
