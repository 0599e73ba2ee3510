import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import type { AnswerOf, CallableName } from '../../contract/functions.ts';
import type { DeployedName, Invoke, RequestOf } from '../../contract/invoke.ts';
import { CliError } from '../failure.ts';

/** A Lambda function may run for 15 minutes; wait a little longer than that (docs/operations.md, Timeouts). */
export const REQUEST_TIMEOUT_MS = 15 * 60_000 + 10_000;

const functionErrorSchema = z.object({
  errorType: z.string().default('InternalError'),
  errorMessage: z.string().default('The function failed without a message.'),
});

const CREDENTIAL_ERRORS = new Set([
  'CredentialsProviderError',
  'UnrecognizedClientException',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'TokenProviderError',
]);

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT']);

/** The meaning of a failed call of the Lambda service, for the person at the terminal. */
const serviceError = (name: string, error: unknown): CliError => {
  const known = error instanceof Error ? error : new Error(String(error));
  const code = 'code' in known && typeof known.code === 'string' ? known.code : '';
  if (known.name === 'ResourceNotFoundException') {
    return new CliError('ConfigurationError', `The function ${name} is not deployed here.`, {
      cause: error,
      hint: 'deploy it with npx cdk deploy, check AWS_REGION, or use the embedded cloud with --local',
    });
  }
  if (CREDENTIAL_ERRORS.has(known.name) || known.message.includes('Region is missing')) {
    return new CliError('ConfigurationError', known.message, {
      cause: error,
      hint: 'check the AWS credentials and region, or use the embedded cloud with --local',
    });
  }
  if (known.name === 'AccessDeniedException') {
    return new CliError('ConfigurationError', known.message, { cause: error });
  }
  if (known.name === 'TooManyRequestsException') {
    return new CliError('Throttled', known.message, { cause: error });
  }
  if (UNREACHABLE.has(code) || known.name === 'TimeoutError') {
    return new CliError('CloudUnavailable', `The functions cannot be reached: ${known.message}`, {
      cause: error,
    });
  }
  return new CliError(known.name, known.message, { cause: error });
};

const text = (payload: Uint8Array | undefined): string => Buffer.from(payload ?? []).toString('utf8');

/** The payload is our own function's, so its shape is the contract's and is not checked again. */
const parseAnswer = <Name extends CallableName>(
  name: DeployedName<Name>,
  payload: Uint8Array | undefined,
): AnswerOf<Name> => {
  try {
    const answer: AnswerOf<Name> = JSON.parse(text(payload));
    return answer;
  } catch (cause) {
    throw new CliError('InternalError', `${name} answered something that is not JSON.`, { cause });
  }
};

interface InvokeOptions {
  namePrefix?: string;
  /** Milliseconds. */
  requestTimeout?: number;
}

/**
 * Calls functions through the Lambda Invoke API; a function's error is a `CliError` with its literal name. `namePrefix` is that of the
 * deployment, when it is not `walkback`.
 */
export const createInvoke = (
  config: LambdaClientConfig,
  { namePrefix = 'walkback', requestTimeout = REQUEST_TIMEOUT_MS }: InvokeOptions = {},
): { invoke: Invoke; close: () => void } => {
  const client = new LambdaClient({
    ...config,
    // Without the last one the SDK writes a warning at its timeout, and waits on.
    requestHandler: { requestTimeout, connectionTimeout: 5000, throwOnRequestTimeout: true },
  });
  const invoke = async <Name extends CallableName>(
    name: DeployedName<Name>,
    input: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> => {
    const deployed = name.replace('walkback', () => namePrefix);
    const Payload = Buffer.from(JSON.stringify(input));
    const command = new InvokeCommand({ FunctionName: deployed, Payload });
    const response = await client.send(command).catch((error: unknown) => {
      throw serviceError(deployed, error);
    });
    if (response.FunctionError !== undefined) {
      const { errorType, errorMessage } = functionErrorSchema.parse(JSON.parse(text(response.Payload)));
      throw new CliError(errorType, errorMessage);
    }
    return parseAnswer(name, response.Payload);
  };
  return { invoke, close: () => client.destroy() };
};
