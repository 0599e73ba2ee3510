import type { Command } from 'commander';
import type { Observation, SagaStatus } from '../../contract/saga-observation.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { plural } from '../../core/shared/plural.ts';
import { BLOCKED, sagaTitle } from '../../present/saga-words.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { someFailure } from '../ending.ts';
import { CliError, describeFailure } from '../failure.ts';
import { parseId } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { type RetryableSaga, retriedText, retryPlanText, untoldText } from '../view/saga-retry-view.ts';
import { statusWord } from '../view/saga-views.ts';
import { noteWarnings } from '../warnings.ts';

interface Options {
  by?: string;
  all?: boolean;
  error?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** Statuses of sagas with failed or delayed compensations. */
const STATUSES: readonly SagaStatus[] = ['COMPENSATION_FAILED', 'PAUSED', 'COMPENSATING'];
const PAGE = 100;
const AT_ONCE = 8;

/** Error of a step that runs other sagas. It is retried together with what is left of those. */
const LEFT_BELOW = 'ChildFailed';

interface Refused {
  sagaId: string;
  name: string;
  reason: string;
}

/**
 * What is left in sagas below is retried, and listed, with those sagas. When nothing is left there, this saga
 * has missed that, and looks again.
 */
const retryableIn = (seen: Observation, name?: string): RetryableSaga[] => {
  const { sagaId, status, notCompensated } = seen;
  const own = notCompensated.filter((one) => one.sagaId === undefined);
  const isLeftBelow = own.length < notCompensated.length;
  const isWanted = (error: string): boolean =>
    (name === undefined ? error !== BLOCKED : error === name) && !(isLeftBelow && error === LEFT_BELOW);
  const steps = own.flatMap(({ step, tool, externalRef, error }) =>
    error !== undefined && isWanted(error.name) ? [{ step, tool, externalRef, error }] : [],
  );
  return steps.length === 0 ? [] : [{ sagaId, title: sagaTitle(seen), status, steps }];
};

interface RetrySearch {
  sagas: RetryableSaga[];
  /** Sagas for which it is not known what can be retried. */
  untold: Refused[];
}

/** Reads every page of every status, and looks at a few sagas at a time. */
const findRetryable = async (run: Run, name?: string): Promise<RetrySearch> => {
  const found: RetrySearch = { sagas: [], untold: [] };
  for (const status of STATUSES) {
    let cursor: string | undefined;
    do {
      const page = await run.invoke('walkback-list-sagas', {
        status,
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      const seen = await mapAtOnce(page.sagas, AT_ONCE, async ({ sagaId }) => {
        try {
          return retryableIn(await run.invoke('walkback-describe-saga', { sagaId, subject: true }), name);
        } catch (error) {
          const failure = describeFailure(error);
          if (failure.name !== 'LedgerBroken') throw error;
          found.untold.push({ sagaId, name: failure.name, reason: failure.message });
          return [];
        }
      });
      found.sagas.push(...seen.flat());
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found;
};

/** Retries each saga separately: one that moved on meanwhile, or could not be told, does not stop the others. */
const retryEach = async (run: Run, sagas: readonly RetryableSaga[], by: string, name?: string) => {
  const retried: { sagaId: string; status: SagaStatus }[] = [];
  const refused: Refused[] = [];
  for (const { sagaId } of sagas) {
    try {
      const error = name === undefined ? {} : { error: name };
      const answer = await run.invoke('walkback-operate-saga', { sagaId, action: 'retry', by, ...error });
      noteWarnings(run, answer);
      retried.push(answer);
    } catch (error) {
      const { name, message } = describeFailure(error);
      refused.push({ sagaId, name, reason: message });
    }
  }
  return { retried, refused };
};

const retryAll = async (run: Run, options: Options): Promise<Answer> => {
  if (run.json && options.yes !== true && options.dryRun !== true) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  const by = operatorOf(run, options.by);
  const { sagas, untold } = await run.progress('Looking at failed compensations', () =>
    findRetryable(run, options.error),
  );
  const plan = `${retryPlanText(sagas, run.paint, run.width)}${untoldText(untold, run.paint)}`;
  const failureOf = (refused: readonly Refused[]) =>
    someFailure(
      'not retried',
      refused.map(({ name, reason }) => ({ name, message: reason })),
    );
  if (options.dryRun === true || sagas.length === 0) {
    const value = { sagas, ...(untold.length === 0 ? {} : { untold }) };
    return { value, text: () => plan, failure: failureOf(untold) };
  }
  if (options.yes !== true) {
    run.note(plan);
    if (!(await confirm(run.terminal, `Retry them in ${plural(sagas.length, 'saga')}?`))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
  }
  const told = await run.progress('Telling the sagas', () => retryEach(run, sagas, by, options.error));
  const done = { ...told, refused: [...untold, ...told.refused] };
  return {
    value: { sagas, ...done },
    text: () => retriedText(done, run.paint),
    failure: failureOf(done.refused),
  };
};

const retryOne = async (
  run: Run,
  sagaId: string,
  stepId: string | undefined,
  options: Options,
): Promise<Answer> => {
  const step = stepId === undefined ? {} : { stepId };
  const error = options.error === undefined ? {} : { error: options.error };
  const by = operatorOf(run, options.by);
  const answer = await run.progress('Telling the saga', () =>
    run.invoke('walkback-operate-saga', { sagaId, action: 'retry', by, ...step, ...error }),
  );
  noteWarnings(run, answer);
  return {
    value: answer,
    text: () => `Saga ${run.paint.bold(sagaId)}  ${statusWord(answer.status, run.paint)}\n`,
  };
};

const EXAMPLES = `
Examples:
  walkback saga retry s-1                            every failed or delayed compensation of one saga
  walkback saga retry --all --error Http503 --dry-run   lists what failed with this error, in all sagas
  walkback saga retry --all --error Http503          shows them, asks, does it`;

export const addSagaRetry = (parent: Command, app: App): void => {
  parent
    .command('retry')
    .argument('[saga]', 'saga id; not with --all', parseId)
    .argument('[step]', 'only this step (default: every failed or delayed compensation)')
    .description('run failed compensators again, and delayed ones now')
    .option('--all', 'in all sagas')
    .option('--error <name>', 'only what failed with an error of this name')
    .option('--dry-run', 'with --all: show which ones only')
    .option('-y, --yes', 'with --all: do not ask')
    .option('--by <who>', 'who acts (default: you)')
    .addHelpText('after', helpText(EXAMPLES))
    .action((sagaId: string | undefined, stepId: string | undefined, options: Options, command: Command) =>
      withConnection(app, command, (run) => {
        if ((options.all === true) === (sagaId !== undefined)) {
          throw new CliError('InvalidInput', 'Give a saga, or --all.');
        }
        if (sagaId !== undefined && options.dryRun === true) {
          throw new CliError('InvalidInput', '--dry-run belongs to --all. Nothing was tried again.', {
            hint: `walkback saga show ${sagaId} names what failed or is delayed`,
          });
        }
        return sagaId === undefined ? retryAll(run, options) : retryOne(run, sagaId, stepId, options);
      }),
    );
};
