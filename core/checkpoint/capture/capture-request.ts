/** Builds the request for a capture. Pure. */
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { Said } from '../content/keep-content.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Checkpoint, Session } from '../model.ts';
import type { CaptureHooks, CaptureRequest, KnownRepository } from '../ports/capture.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { knownFrom } from './chain.ts';
import { BUNDLE_LIMITS, type BundleLimits } from './limits.ts';

export interface CaptureInput {
  session: Session;
  sandbox: ExecutionAdapter;
  /** The checkpoint the sandbox stands on; undefined for a baseline. */
  head: Pick<Checkpoint, 'repositories'> | undefined;
  toolExecutionId: string;
  messageId: string | null;
  reason: string;
  knownBases?: string[];
  targets?: CaptureRequest['targets'];
  /** See `CaptureRequest`. */
  late?: boolean;
  /** What the caller said about the checkpoint. */
  said?: Said;
  /**
   * Every repository begins a new chain on its known base, also one that did not change. Needed when the
   * known chains belong to another session.
   */
  startsOver?: boolean;
  /** The links are stored by the write that makes a checkpoint of the capture (`Captured.links`). */
  defersLinks?: boolean;
  meanwhile?: CaptureHooks['meanwhile'];
  /** Also captures what lies in no repository: the projects root counts as one, without a history of its own. */
  looseFiles?: boolean;
}

/** A directory that is known is captured, whether there is a repository in it or not. */
export const ROOT: KnownRepository = { path: '.', commit: '', tree: '', meta: '', next: 'rebase' };

export const captureRequest = (
  input: CaptureInput,
  invocation: Invocation,
  clock: Clock,
  limits: BundleLimits = BUNDLE_LIMITS,
): CaptureRequest => {
  const { session, head } = input;
  const states = head?.repositories ?? [];
  const bases = [...(input.knownBases ?? []), ...states.flatMap((state) => state.base ?? [])];
  return {
    sessionId: session.sessionId,
    projectsRoot: session.projectsRoot,
    toolExecutionId: input.toolExecutionId,
    messageId: input.messageId,
    reason: input.reason,
    known: [
      ...(input.looseFiles === true ? [ROOT] : []),
      ...states.flatMap((state) => {
        const known = knownFrom(state, limits);
        if (known === undefined) return [];
        if (input.startsOver === true) return { ...known, tree: '', meta: '', next: 'restart' as const };
        return { ...known, ...(state.state === 'absent' && { isGone: true }) };
      }),
    ],
    mentioned: states.flatMap((one) =>
      one.state === 'failed' && knownFrom(one, limits) === undefined ? one.path : [],
    ),
    knownBases: [...new Set(bases)],
    include: session.include,
    exclude: session.exclude,
    maxFileBytes: session.maxFileBytes,
    maxDepth: DEFAULTS.maxDepth,
    targets: input.targets,
    late: input.late,
    timeoutMs: commandTimeout(invocation, clock),
    maxInlineBytes: limits.carriedBytes,
  };
};
