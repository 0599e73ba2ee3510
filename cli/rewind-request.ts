/** The request of `walkback rewind`, from its options and back into them. */
import { freshId } from '../client/ids.ts';
import type { SagaRewind, SessionRewind } from '../contract/rewind.ts';
import type { RewindScope } from '../contract/rewind-scopes.ts';
import type { Run } from './app.ts';
import { acceptedIn, checkpointWords, epochWords, plannedAt, residueWords } from './decided.ts';
import { CliError } from './failure.ts';
import { readJson } from './json-option.ts';
import { shellWord } from './options.ts';
import { resolveTarget } from './reference.ts';
import { operatorOf } from './saga-operator.ts';
import { resolveSession } from './session.ts';
import { withWhere } from './where-words.ts';

export interface RewindOptions {
  session?: string;
  saga?: string;
  to?: string;
  steps?: number;
  plan?: string;
  scope: RewindScope;
  guidance?: string;
  acceptResidue?: boolean;
  residue?: string;
  reason?: string;
  request?: string;
  epoch?: number;
  checkpoint?: string;
  timeout: number;
  dryRun?: boolean;
  yes?: boolean;
  by?: string;
}

const stepTarget = ({ to, steps }: RewindOptions): SagaRewind['to'] => {
  if (to !== undefined && steps === undefined) return { stepId: to };
  if (steps !== undefined && to === undefined) return { steps };
  throw new CliError(
    'InvalidInput',
    to === undefined ? 'Give --to or --steps.' : 'Give --to or --steps, not both.',
    {
      hint: '--to names the last step that stays, --steps says how many are taken back',
    },
  );
};

export const inputOf = async (run: Run, options: RewindOptions): Promise<SagaRewind | SessionRewind> => {
  const { saga, scope, guidance, request, epoch, checkpoint, by, to, plan, reason } = options;
  const common = {
    scope,
    requestId: request ?? freshId('rewind'),
    by: operatorOf(run, by),
    ...(guidance === undefined ? {} : { guidance }),
    ...acceptedIn(options),
    ...(reason === undefined ? {} : { reason }),
  };
  if (saga !== undefined) {
    const others = plan === undefined ? {} : { plan: await readJson(plan, '--plan') };
    return { sagaId: saga, to: stepTarget(options), ...common, ...others };
  }
  if (options.steps !== undefined || plan !== undefined)
    throw new CliError('InvalidInput', '--steps and --plan are for a saga: give --saga too.');
  if (to === undefined)
    throw new CliError('InvalidInput', 'Give --to.', {
      hint: 'it names a message or checkpoint of a session; --saga ID rewinds a saga',
    });
  const sessionId = await resolveSession(run, options.session);
  const target = plannedAt(await resolveTarget(run.invoke, sessionId, to), checkpoint);
  return { sessionId, to: target, ...common, ...(epoch === undefined ? {} : { epoch }) };
};

/** The command that continues this same request, or says that it is done. */
export const sameCommand = (
  where: Run['options'],
  input: SagaRewind | SessionRewind,
  options: RewindOptions,
): string => {
  const { scope, guidance, acceptResidue, residue, reason, requestId, by = '' } = input;
  const words = ['walkback', 'rewind'];
  if (input.sagaId !== undefined) {
    words.push('--saga', input.sagaId);
    words.push(...('steps' in input.to ? ['--steps', String(input.to.steps)] : ['--to', input.to.stepId]));
    if (options.plan !== undefined) words.push('--plan', shellWord(options.plan));
  } else {
    // `head` is another point by then.
    const point = 'messageId' in input.to ? input.to.messageId : input.to.checkpointId;
    words.push('--session', input.sessionId, '--to', point);
  }
  if (scope !== 'all') words.push('--scope', String(scope));
  if (guidance !== undefined) words.push('--guidance', shellWord(guidance));
  if (acceptResidue === true) words.push('--accept-residue', ...residueWords(residue));
  if (reason !== undefined) words.push('--reason', shellWord(reason));
  if (input.sagaId === undefined) {
    if ('messageId' in input.to) words.push(...checkpointWords(input.to.checkpointId));
    words.push(...epochWords(input.epoch));
  }
  words.push('--request', requestId, '--by', shellWord(by), '--yes');
  return withWhere(words.join(' '), where);
};
