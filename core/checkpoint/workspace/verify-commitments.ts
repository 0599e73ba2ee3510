/**
 * Verifies commitments in a fresh copy of a checkpoint (W6). So none can pass because of something that only
 * the agent's own sandbox has: files outside the repositories, files that git ignores, processes.
 */
import type { VerifiedCommitment, VerifyCommitmentsAnswer } from '../../../contract/workspace-answers.ts';
import type { Commitment, VerifyCommitmentsInput } from '../../../contract/workspace-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { CommandReport, Workspaces } from '../ports/workspace.ts';
import type { RehydrateDeps } from '../rehydrate/rehydrate.ts';
import { verifyNameOf } from '../session/keys.ts';
import { requireSession } from '../session/session-rules.ts';
import { findTarget, requireComplete } from '../timeline/targets.ts';
import { outputOf, wasEndedByTimeout } from './command-report.ts';
import { createFreshCopy } from './fresh-copy.ts';

/** Time kept back for ending a command, answering and killing the copy. */
const RESERVE_MS = 15_000;
const judge = (
  { id, expectExitCode, timeoutSeconds, cwd }: Commitment,
  report: CommandReport,
): VerifiedCommitment => {
  if (report.kind === 'no-directory') {
    const output = `There is no directory ${cwd ?? '.'} in the checkpoint.`;
    return { id, status: 'broken', exitCode: null, milliseconds: 0, output, isCut: false };
  }
  const { exitCode, milliseconds, tail } = report;
  const wasEnded = wasEndedByTimeout(report, timeoutSeconds);
  const ended = exitCode === expectExitCode ? 'kept' : 'broken';
  return {
    id,
    status: wasEnded ? 'timed-out' : ended,
    exitCode: wasEnded ? null : exitCode,
    milliseconds,
    output: outputOf(report),
    isCut: tail !== undefined,
  };
};

const notRun = ({ id }: Commitment): VerifiedCommitment => ({
  id,
  status: 'not-run',
  exitCode: null,
  milliseconds: 0,
  output: '',
  isCut: false,
});

export const createVerifyCommitments = (deps: RehydrateDeps & { workspaces: Workspaces }) => {
  const { store, workspaces, clock, random } = deps;
  const copies = createFreshCopy(deps);

  const leftMs = (invocation: Invocation): number => invocation.deadlineMs - clock.now().getTime();

  const runAll = async (
    sandbox: ExecutionAdapter,
    projectsRoot: string,
    wanted: readonly Commitment[],
    invocation: Invocation,
  ): Promise<VerifiedCommitment[]> => {
    const verified: VerifiedCommitment[] = [];
    for (const one of wanted) {
      const { command, cwd: directory = '.', timeoutSeconds: seconds } = one;
      const hasTime = seconds * 1000 + RESERVE_MS <= leftMs(invocation);
      verified.push(
        hasTime
          ? judge(one, await workspaces.runCommand(sandbox, { projectsRoot, command, directory, seconds }))
          : notRun(one),
      );
    }
    return verified;
  };

  return async (input: VerifyCommitmentsInput, invocation: Invocation): Promise<VerifyCommitmentsAnswer> => {
    const { sessionId, template } = input;
    const session = await requireSession(store, sessionId);
    const target = await findTarget(store, sessionId, input, session.headSeq);
    if (input.allowPartial !== true) await requireComplete(store, target);
    const copyOf = {
      sessionId,
      checkpointId: target.checkpointId,
      name: verifyNameOf(random()),
      template,
    };
    return copies.use(copyOf, invocation, async (sandbox, copy) => {
      const verified = await runAll(sandbox, session.projectsRoot, input.commitments, invocation);
      return {
        sessionId,
        checkpointId: target.checkpointId,
        ok: verified.every(({ status }) => status === 'kept'),
        commitments: verified,
        warnings: copy.warnings,
      };
    });
  };
};
