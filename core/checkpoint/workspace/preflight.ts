/**
 * Looks at a sandbox before anybody works in it, and lists everything that is missing at once, each with what
 * to do. For a template it makes a sandbox, and always kills it afterwards.
 */
import type { PreflightAnswer, PreflightCheck } from '../../../contract/workspace-answers.ts';
import type { PreflightInput } from '../../../contract/workspace-inputs.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { ExecutionAdapter, Sandboxes, SandboxTags } from '../ports/sandbox.ts';
import type { Workspaces } from '../ports/workspace.ts';
import { judgePrompts, judgeRepositories, judgeSandbox } from './judge-sandbox.ts';
import { killSandboxes } from './kill-sandboxes.ts';

/** Longer than the function runs. A sandbox that a killed function left ends by itself. */
const LIFE_MS = 360_000;

export interface PreflightDeps {
  sandboxes: Sandboxes;
  repositories: Pick<Repositories, 'survey'>;
  workspaces: Workspaces;
  clock: Clock;
  log: Log;
  random: () => string;
}

export const createPreflight = (deps: PreflightDeps) => {
  const { sandboxes, repositories, workspaces, clock, random } = deps;

  /** What git says about the repositories. If git cannot be asked in the sandbox, that is not our error. */
  const lookAtRepositories = async (
    sandbox: ExecutionAdapter,
    facts: Awaited<ReturnType<Workspaces['look']>>,
    { projectsRoot, isFresh }: { projectsRoot: string; isFresh: boolean },
    invocation: Invocation,
  ): Promise<PreflightCheck[]> => {
    if (facts.root !== 'directory') return isFresh ? [judgePrompts([])] : [];
    const timeoutMs = commandTimeout(invocation, clock);
    try {
      const found = await repositories.survey(sandbox, {
        projectsRoot,
        maxDepth: DEFAULTS.maxDepth,
        detail: false,
        timeoutMs,
      });
      const paths = found.repositories.map(({ path }) => path).toSorted();
      const remotes = await workspaces.askRemotes(sandbox, { projectsRoot, paths, timeoutMs });
      return [judgeRepositories(found, facts, isFresh), judgePrompts(remotes)];
    } catch (error) {
      if (!isWalkbackError(error, 'SandboxUnsupported')) throw error;
      return [
        {
          id: 'repositories',
          ok: false,
          found: error.message,
          advice: 'Fix what the other checks name first.',
        },
      ];
    }
  };

  const look = async (
    sandbox: ExecutionAdapter,
    input: PreflightInput,
    isFresh: boolean,
    invocation: Invocation,
  ): Promise<PreflightAnswer> => {
    const { projectsRoot, needs = [] } = input;
    const place = { projectsRoot, isFresh };
    const facts = await workspaces.look(sandbox, {
      projectsRoot,
      needs: [...new Set(needs)],
      timeoutMs: commandTimeout(invocation, clock),
    });
    const checks = [
      ...judgeSandbox(facts, place),
      ...(facts.git === '' ? [] : await lookAtRepositories(sandbox, facts, place, invocation)),
    ];
    return { ok: checks.every(({ ok }) => ok), checks };
  };

  return async (input: PreflightInput, invocation: Invocation): Promise<PreflightAnswer> => {
    const { sandboxId, template } = input;
    if (sandboxId !== undefined) {
      return look(await sandboxes.open(sandboxId, { fresh: true }), input, false, invocation);
    }
    const tags: SandboxTags = { 'walkback-purpose': 'preflight', 'walkback-request': random() };
    let made: ExecutionAdapter | undefined;
    try {
      made = await sandboxes.create({
        ...(template !== undefined && { template }),
        tags,
        timeoutMs: LIFE_MS,
      });
      return await look(made, input, true, invocation);
    } finally {
      await killSandboxes(deps, tags, made?.sandboxId);
    }
  };
};
