/** Errors about the points that a search begins with. No output of the command is in them: errors are logged. */
import { WalkbackError } from '../../shared/errors.ts';
import type { Probe } from '../ports/searches.ts';
import type { Point } from './line.ts';
import type { Verdict } from './search.ts';

type End = 'good' | 'bad';

const ended = ({ exitCode, note }: NonNullable<Probe['result']>): string =>
  exitCode === null ? (note ?? 'it did not end by itself') : `exit code ${exitCode}`;

/** An end of the search is not what the caller said, or cannot be judged. */
export const wrongEnd = (
  end: End,
  { sessionId, checkpointId }: Point,
  verdict: Verdict,
  result: NonNullable<Probe['result']>,
): WalkbackError => {
  const details = { details: { sessionId, checkpointId, exitCode: result.exitCode } };
  if (verdict === 'skipped') {
    return new WalkbackError(
      'PointNotJudged',
      `${end}: the command could not judge ${checkpointId}, the ${end} point (${ended(result)}). Name a point where it succeeds or fails.`,
      details,
    );
  }
  return end === 'good'
    ? new WalkbackError(
        'GoodPointFails',
        `good: the command fails at ${checkpointId} already (${ended(result)}), so nothing that came later broke it. Name a point where it succeeds, or correct the command${result.exitCode === null ? ', or give it more time' : ''}.`,
        details,
      )
    : new WalkbackError(
        'BadPointPasses',
        `bad: the command succeeds at ${checkpointId}, so nothing is broken there. Name a point where it fails, or take a checkpoint first: what no checkpoint holds is not tried.`,
        details,
      );
};

/** A point that no copy can tell anything of. */
export const unfitPoint = (end: End, { checkpointId, sessionId, unfit }: Point): WalkbackError =>
  new WalkbackError(
    'PointNotJudged',
    `${end}: ${checkpointId} cannot be judged: ${unfit ?? ''}. Name another point.`,
    { details: { sessionId, checkpointId } },
  );

export const nowhereFit = (repository: string | undefined): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    repository === undefined
      ? 'good: no checkpoint before the bad point is complete. Give allowPartial to try those that are not.'
      : `repository: no checkpoint before the bad point has a repository "${repository}". walkback log shows the repositories.`,
    { details: { fields: [repository === undefined ? 'good' : 'repository'] } },
  );

export const equalPoints = (good: string, bad: string): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `good, bad: nothing changed between ${good} and ${bad}. Name points that differ.`,
    { details: { fields: ['good', 'bad'] } },
  );
