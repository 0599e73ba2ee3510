import type { Command } from 'commander';
import { commitments as commitmentsSchema } from '../../contract/workspace-inputs.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { readJsonFile } from '../json-option.ts';
import { parseId } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { verifiedText } from '../view/commitments-view.ts';

interface Options {
  session?: string;
  to?: string;
  template?: string;
  allowPartial?: boolean;
}

const EXAMPLES = `
FILE holds a list:
  [{ "id": "tests", "description": "the tests pass",
     "command": "npm ci && npm test", "cwd": "api",
     "expectExitCode": 0, "timeoutSeconds": 300 }]

Examples:
  walkback verify-commitments commitments.json             where the session stands
  walkback verify-commitments commitments.json --to msg-2  the end of message msg-2

What no checkpoint holds is not verified: take one first. Exit code 1 when a command does not end as promised.`;

export const defineVerifyCommitments = (verify: Command, app: App): void => {
  verify
    .description(
      'Run commands in a fresh copy of a checkpoint, one after the other, and say which end as they should. The copy has ' +
        'only what the checkpoint holds and what the template brings, and is killed afterwards.',
    )
    .argument('<file>', 'the commitments, as JSON')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--to <point>', 'message id or checkpoint id (default: where the session stands)')
    .option('--template <name>', "sandbox template (default: the session's)")
    .option('--allow-partial', 'take a checkpoint that is not complete')
    .addHelpText('after', helpText(EXAMPLES))
    .action((file: string, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const commitments = parseInput(commitmentsSchema(), await readJsonFile(file));
        const sessionId = await resolveSession(run, options.session);
        const target = options.to === undefined ? {} : await resolveTarget(run.invoke, sessionId, options.to);
        const answer = await run.progress('Verifying in a fresh copy', () =>
          run.invoke('walkback-verify-commitments', {
            ...target,
            sessionId,
            commitments,
            ...(options.template === undefined ? {} : { template: options.template }),
            ...(options.allowPartial === undefined ? {} : { allowPartial: options.allowPartial }),
          }),
        );
        const broken = answer.commitments.filter(({ status }) => status !== 'kept').map(({ id }) => id);
        return {
          value: answer,
          text: () => verifiedText(answer, commitments, run.paint),
          failure:
            broken.length === 0
              ? undefined
              : new CliError('CommitmentsBroken', `Not kept: ${broken.join(', ')}.`),
        };
      }),
    );
};
