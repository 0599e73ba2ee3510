/**
 * How a command ends that waited for something. Its answer is shown first. Then the command fails unless what
 * was asked for is done. So a script never takes something that still runs, was refused or was taken back for
 * done.
 */

import type { ParkedSagas, StepAnswer } from '../contract/saga-answers.ts';
import type { Observation } from '../contract/saga-observation.ts';
import { TERMINAL_STATUSES } from '../core/saga/model/head.ts';
import { openNotListedIn } from '../core/saga/view/not-listed.ts';
import { plural } from '../core/shared/plural.ts';
import { isRetryable } from '../present/saga-words.ts';
import { CliError } from './failure.ts';

/** Nothing moves by itself any more, until somebody acts. */
export const isAtRest = ({ status, interactive, awaiting, awaitingBelow }: Observation): boolean =>
  TERMINAL_STATUSES.some((one) => one === status) ||
  interactive?.what === 'next-step' ||
  interactive?.what === 'parked' ||
  awaiting !== undefined ||
  awaitingBelow !== undefined;

type Left = Observation['notCompensated'][number];

/** What nothing takes back has no compensator to retry. What is left in sagas below is worked on there. */
const workHint = (sagaId: string, left: readonly Left[]): string => {
  const one = left.find(isRetryable) ?? left.find(({ children }) => children !== true);
  const saga = one?.sagaId ?? sagaId;
  return one === undefined || isRetryable(one)
    ? `walkback saga retry ${saga}, or resolve or skip each step`
    : `walkback saga resolve ${saga} ${one.step} --evidence TEXT, or walkback saga skip ${saga} ${one.step} --reason TEXT`;
};

/**
 * For a watch: succeeds when the saga has ended or needs somebody, and everything that should be undone is
 * undone.
 */
export const watchFailure = (seen: Observation): CliError | undefined => {
  const { sagaId, status, notCompensated } = seen;
  const left = notCompensated.filter(({ accepted }) => accepted !== true);
  if (status === 'COMPENSATION_FAILED' && left.length > 0) {
    // A step that runs sagas is not an effect of its own.
    const effects = left.filter(({ children }) => children !== true).length + openNotListedIn(seen);
    const what = effects === 0 ? `What saga ${sagaId} ran` : plural(effects, 'effect');
    return new CliError('CompensationFailed', `${what} could not be undone.`, {
      hint: workHint(sagaId, left),
    });
  }
  if (isAtRest(seen)) return undefined;
  return new CliError('StillRunning', `Saga ${sagaId} has not ended; the time to wait for it is over.`, {
    hint: `walkback saga watch ${sagaId} waits again`,
  });
};

/**
 * For a step or a single call: succeeds when it is done. `sagaId`: the saga under which an operator works on
 * it.
 */
export const stepFailure = (
  { stepId, status, error }: StepAnswer,
  sagaId: string | null,
): CliError | undefined => {
  const saga = sagaId ?? 'SAGA';
  switch (status) {
    case 'committed':
      return undefined;
    case 'running':
      return new CliError('StillRunning', `${stepId} is not settled; the time to wait for it is over.`, {
        hint: 'the same command waits again',
      });
    case 'awaiting':
      return new CliError('StillRunning', `${stepId} waits for approval.`, {
        hint: `walkback saga approve ${saga} ${stepId}; after that the same command says what became of it`,
      });
    case 'rejected':
      return new CliError(error?.name ?? 'Refused', error?.message ?? `${stepId} was refused.`, {
        hint: 'nothing happened; another try needs another id',
      });
    case 'undone':
      return new CliError(error?.name ?? 'Undone', error?.message ?? `${stepId} was taken back.`, {
        hint: `what happened was taken back: walkback saga show ${saga}`,
      });
    case 'failed':
      return new CliError('CompensationFailed', `${stepId} could not be taken back.`, {
        hint: `walkback saga show ${saga}, then retry, resolve or skip each step`,
      });
  }
};

/**
 * For several things with separate answers: succeeds when all are done. The first that is not gives the
 * error's name.
 */
export const someFailure = (
  what: string,
  failed: readonly { name: string; message: string }[],
): CliError | undefined => {
  const [first] = failed;
  return first === undefined
    ? undefined
    : new CliError(first.name, `${failed.length} ${what}. First: ${first.message}`);
};

/** For `saga park`: succeeds when all sagas were put aside. */
export const parkFailure = ({ sagas }: ParkedSagas): CliError | undefined =>
  someFailure(
    'not put aside',
    sagas.flatMap(({ error }) => (error === undefined ? [] : [error])),
  );
