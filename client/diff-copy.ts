/**
 * Compares two points of a session whose sandbox is gone or no longer holds both. It does so in a review copy
 * of one point, which is rolled back to the other point when its bundles do not hold that one too. The copy
 * ends by itself.
 */
import type { DiffAnswer } from '../contract/change-answers.ts';
import type { RehydrateAnswer } from '../contract/checkpoint-answers.ts';
import type { RequestOf } from '../contract/invoke.ts';
import { idFrom } from './ids.ts';
import { targetOfPoint } from './point.ts';
import type { Request } from './requests.ts';

/** The functions that the comparison calls, as the caller reaches them. */
export interface DiffCalls {
  diff(request: RequestOf<'diff'>): Promise<DiffAnswer>;
  rehydrate(request: Request<'rehydrate'>): Promise<RehydrateAnswer>;
  rollback(request: Request<'rollback'>): Promise<unknown>;
  freshId(prefix: string): string;
}

/** How long a copy lives. */
export const COPY_MS = 600_000;

/** The command's errors are all of one class, and have the name of the error beside it. */
const nameOf = (error: Error): string =>
  'errorName' in error && typeof error.errorName === 'string' ? error.errorName : error.name;

export const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(nameOf(error));

/**
 * Whether a copy can be used: it holds no `now`, and a caller that names a sandbox means exactly that
 * sandbox.
 */
const mayCopy = ({ from, to, sandboxId }: RequestOf<'diff'>): boolean =>
  from !== 'now' && to !== 'now' && sandboxId === undefined;

const reasonOf = (error: unknown): string =>
  isNamed(error, 'SandboxNotFound') ? 'is gone or paused' : 'does not hold both points';

/**
 * The comparison in the copy is another request than the one in the session's sandbox, and so is the one
 * after the rollback. All their ids follow from the id of the whole. So a repeated call joins each of them,
 * in the same copy.
 */
const inCopy = async (
  calls: DiffCalls,
  { requestId: whole, ...request }: RequestOf<'diff'>,
  reason: string,
): Promise<DiffAnswer> => {
  const { sessionId, from, to } = request;
  // A rollback needs a message or a checkpoint. A copy is of the head by default.
  const [built, other] = from === 'head' ? [from, to] : [to, from];
  const point = built === 'head' ? {} : targetOfPoint(built);
  const requestId = whole === undefined ? calls.freshId('diff') : idFrom(whole, 'copy');
  const copy = await calls.rehydrate({ sessionId, ...point, requestId, mode: 'review', timeoutMs: COPY_MS });
  const { sandboxId, checkpointId } = copy;
  // In the copy, the head is the checkpoint that it was made of.
  const points = {
    from: from === 'head' ? checkpointId : from,
    to: to === 'head' ? checkpointId : to,
  };
  const compare = (when: string) =>
    calls.diff({
      ...request,
      ...points,
      sandboxId,
      ...(whole === undefined ? {} : { requestId: idFrom(whole, when) }),
    });
  const told = (answer: DiffAnswer): DiffAnswer => ({
    ...answer,
    warnings: [
      `compared in the review copy ${sandboxId}, because the sandbox of the session ${reason}; it ends by itself after 10 minutes`,
      ...answer.warnings,
    ],
  });
  try {
    return told(await compare('in the copy'));
  } catch (error) {
    if (!isNamed(error, 'BundleMissing') || other === 'head') throw error;
    const target = targetOfPoint(other);
    await calls.rollback({ sessionId, sandboxId, ...target, requestId, allowPartial: true });
    return told(await compare('rolled back'));
  }
};

export const diffAnywhere = async (calls: DiffCalls, request: RequestOf<'diff'>): Promise<DiffAnswer> => {
  try {
    return await calls.diff(request);
  } catch (error) {
    if (!mayCopy(request) || !isNamed(error, 'SandboxNotFound', 'BundleMissing')) throw error;
    return inCopy(calls, request, reasonOf(error));
  }
};
