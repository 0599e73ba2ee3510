import type { Command } from 'commander';
import type { RequestOf } from '../../contract/invoke.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { collectTexts, parseId } from '../options.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { checksText } from '../view/checks-view.ts';

interface Options {
  session?: string;
  sandbox?: string;
  template?: string;
  root?: string;
  need?: string[];
}

const EXAMPLES = `
Examples:
  walkback preflight                                       the sandbox of this session
  walkback preflight --need node --need pnpm               and whether it has these
  walkback preflight --template base --root /home/user/work   a fresh sandbox, which is killed again

Exit code 7 when a check fails. With --json: { "ok", "checks": [{ id, ok, found, advice }] }.`;

const preflightTarget = async (run: Run, { session, sandbox, template, root }: Options) => {
  if (sandbox !== undefined || template !== undefined) {
    if (root === undefined)
      throw new CliError('InvalidInput', 'Give --root, the projects root in the sandbox.');
    return {
      projectsRoot: root,
      ...(sandbox === undefined ? {} : { sandboxId: sandbox }),
      ...(template === undefined ? {} : { template }),
    };
  }
  const sessionId = await resolveSession(run, session);
  const seen = await run.invoke('walkback-timeline', { sessionId, limit: 1 });
  return { sandboxId: seen.session.sandboxId, projectsRoot: root ?? seen.session.projectsRoot };
};

export const definePreflight = (preflight: Command, app: App): void => {
  preflight
    .description(
      'Look whether a sandbox has what work in it needs: git, tools, disk, rights, readable repositories, and ' +
        'remotes that do not ask for credentials. Nothing is changed.',
    )
    .option('-s, --session <id>', 'its sandbox (default: see walkback --help)', parseId)
    .option('--sandbox <id>', 'another sandbox that is running')
    .option('--template <name>', 'a fresh sandbox of this template, which is killed again')
    .option('--root <path>', 'projects root in the sandbox (default: that of the session)')
    .option('--need <command>', 'a command that the agent needs; may be given again', collectTexts)
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const request: RequestOf<'preflight'> = {
          ...(await preflightTarget(run, options)),
          ...(options.need === undefined ? {} : { needs: options.need }),
        };
        const answer = await run.progress('Looking at the sandbox', () =>
          run.invoke('walkback-preflight', request),
        );
        const bad = answer.checks.filter(({ ok }) => !ok).map(({ id }) => id);
        const hint = 'do what stands beside each of them';
        return {
          value: answer,
          text: () => checksText(answer.checks, run.paint),
          failure:
            bad.length === 0
              ? undefined
              : new CliError('SandboxUnsupported', `These checks failed: ${bad.join(', ')}.`, { hint }),
        };
      }),
    );
};
