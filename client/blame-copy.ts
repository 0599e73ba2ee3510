/**
 * Says who wrote the lines of a file, in a review copy where the session's sandbox is gone or lacks what is needed.
 * The copy ends by itself.
 */
import type { BlameAnswer } from '../contract/blame.ts';
import type { RehydrateAnswer } from '../contract/checkpoint-answers.ts';
import type { RequestOf } from '../contract/invoke.ts';
import { COPY_MS, isNamed } from './diff-copy.ts';
import { idFrom } from './ids.ts';
import { targetOfPoint } from './point.ts';
import type { Request } from './requests.ts';

/** The functions that are called, as the caller reaches them. */
export interface BlameCalls {
  blame(request: RequestOf<'blame'>): Promise<BlameAnswer>;
  rehydrate(request: Request<'rehydrate'>): Promise<RehydrateAnswer>;
  freshId(prefix: string): string;
}

/** A copy holds no `now`, and a caller that names a sandbox means exactly that one. */
const mayCopy = ({ at, sandboxId }: RequestOf<'blame'>): boolean => at !== 'now' && sandboxId === undefined;

/** The question in the copy is another request than the one in the session's sandbox. Their ids follow from the id of the whole. */
export const blameAnywhere = async (calls: BlameCalls, request: RequestOf<'blame'>): Promise<BlameAnswer> => {
  try {
    return await calls.blame(request);
  } catch (error) {
    if (!mayCopy(request) || !isNamed(error, 'SandboxNotFound', 'BundleMissing')) throw error;
    const { requestId: whole, at = 'head', ...rest } = request;
    const point = at === 'head' ? {} : targetOfPoint(at);
    const requestId = whole === undefined ? calls.freshId('blame') : idFrom(whole, 'copy');
    const copy = await calls.rehydrate({
      sessionId: request.sessionId,
      ...point,
      requestId,
      mode: 'review',
      timeoutMs: COPY_MS,
    });
    const { sandboxId, checkpointId } = copy;
    const answer = await calls.blame({
      ...rest,
      at: checkpointId,
      sandboxId,
      ...(whole === undefined ? {} : { requestId: idFrom(whole, 'in the copy') }),
    });
    const why = isNamed(error, 'SandboxNotFound') ? 'is gone or paused' : 'does not hold what is needed';
    return {
      ...answer,
      warnings: [
        `looked at in the review copy ${sandboxId}, because the sandbox of the session ${why}; it ends by itself after 10 minutes`,
        ...(request.at === undefined
          ? ['without what came after that checkpoint: a copy does not have it']
          : []),
        ...answer.warnings,
      ],
    };
  }
};
