/**
 * The shell around every function: parses the input, calls one use case, and answers. Errors leave with
 * their literal name and a message that says what to do, without stack or secret. Logs, metrics and traces
 * come from Powertools with its own settings (`POWERTOOLS_*`).
 */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import type * as z from 'zod';
import { isRefusal } from '../contract/errors.ts';
import { type AnswerOf, type CallableName, type InputOf, inputOf } from '../contract/functions.ts';
import type { Invocation } from '../core/shared/deadline.ts';
import { isWalkbackError } from '../core/shared/errors.ts';
import { parseInput } from '../core/shared/parse-input.ts';
import { createRuntime, metricsNamespace, processEnvironment, type Runtime } from './runtime.ts';
import { loadTracing } from './tracing.ts';

const SERVICE = 'walkback';

const tracing = await loadTracing(processEnvironment(), SERVICE);

/** The error that the caller sees. Lambda uses `name` as `errorType`. The stack would be in its answer. */
class FunctionError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
    this.stack = `${name}: ${message}`;
  }
}

const publicError = (error: unknown, requestId: string): FunctionError =>
  isWalkbackError(error) && error.name !== 'InternalError'
    ? new FunctionError(error.name, error.message)
    : new FunctionError(
        'InternalError',
        `Something went wrong inside Walkback. Call again; if it repeats, look for request ${requestId} in the function's log.`,
      );

export type UseCase<Input, Output> = (input: Input, invocation: Invocation) => Promise<Output>;

/** A handler without input schema, for events that come from AWS itself. */
export const createEventHandler = <Input, Output>(
  name: string,
  wire: (runtime: Runtime) => Promise<UseCase<Input, Output>>,
) => {
  const logger = new Logger({ serviceName: SERVICE });
  const metrics = new Metrics({
    namespace: metricsNamespace() ?? SERVICE,
    serviceName: SERVICE,
    defaultDimensions: { function: name },
  });
  let wired: Promise<UseCase<Input, Output>> | undefined;

  const useCase = () => {
    wired ??= wire(
      createRuntime(
        processEnvironment(),
        {
          info: (message, facts = {}) => logger.info(message, { ...facts, function: name }),
          warn: (message, facts = {}) => logger.warn(message, { ...facts, function: name }),
        },
        {
          measure: (metric, value) =>
            metrics.addMetric(
              metric,
              metric.endsWith('Seconds') ? MetricUnit.Seconds : MetricUnit.Count,
              value,
            ),
          annotate: tracing.annotate,
        },
      ),
    );
    return wired;
  };

  const run = tracing.spanned(name, async (event: Input, invocation: Invocation) =>
    (await useCase())(event, invocation),
  );

  return async (event: Input, context: Context): Promise<Output> => {
    const startedMs = Date.now();
    const deadlineMs = startedMs + context.getRemainingTimeInMillis();
    logger.addContext(context);
    // Dated like Lambda's own metrics, because an alarm subtracts refusals from errors minute by minute.
    metrics.setTimestamp(startedMs);
    metrics.captureColdStartMetric();
    try {
      return await run(event, { deadlineMs });
    } catch (error) {
      const shown = publicError(error, context.awsRequestId);
      if (isRefusal(shown.name)) {
        metrics.addMetric('Refused', MetricUnit.Count, 1);
        metrics.addMetadata('error', shown.name);
      }
      logger[shown.name === 'InternalError' ? 'error' : 'warn'](`${name} failed`, { error });
      throw shown;
    } finally {
      // Calls, errors and durations are Lambda's own metrics; each of ours has its price.
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    }
  };
};

/** A handler that parses its input, which is typed from there on. */
export const createParsingHandler = <Input, Output>(
  name: string,
  schema: z.ZodType<Input>,
  wire: (runtime: Runtime) => Promise<UseCase<Input, Output>>,
) =>
  createEventHandler<unknown, Output>(name, async (runtime) => {
    // Wiring starts only when the input is accepted, and does not wait for anything that the input could be
    // refused without.
    let wired: Promise<UseCase<Input, Output>> | undefined;
    return async (event, invocation) => {
      const input = parseInput(schema, event);
      const wiring = (wired ??= wire(runtime));
      // If wiring failed (a secret was not there yet), the next call tries again.
      wiring.catch(() => {
        wired = undefined;
      });
      return (await wiring)(input, invocation);
    };
  });

/** The handler of a row of contract/functions.ts, with that row's input and answer. */
export const createHandler = <Name extends CallableName>(
  name: Name,
  wire: (runtime: Runtime) => Promise<UseCase<InputOf<Name>, AnswerOf<Name>>>,
) => createParsingHandler(name, inputOf(name), wire);
