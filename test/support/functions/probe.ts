/** A function for tests of the embedded Lambda: does what the event says, and tells what it was given. */
import type { Context } from 'aws-lambda';

interface ProbeEvent {
  do?: 'echo' | 'throw' | 'throw-text' | 'wait' | 'large' | 'nothing';
  bytes?: number;
  count?: number;
}

class Refused extends Error {
  override readonly name = 'Refused';
}

// Read once, like a real function's composition root does.
const environment = { label: process.env['PROBE_LABEL'], region: process.env['AWS_REGION'] };
let invocations = 0;

export const handler = async (event: ProbeEvent, context: Context): Promise<unknown> => {
  invocations += 1;
  switch (event.do) {
    case 'throw':
      throw new Refused('the message says what to do');
    case 'throw-text':
      throw 'just text';
    case 'wait':
      return new Promise(() => undefined);
    case 'large':
      return 'x'.repeat(event.bytes ?? 0);
    case 'nothing':
      return undefined;
    case 'echo':
    case undefined:
      return {
        event,
        environment,
        invocations,
        functionName: context.functionName,
        arn: context.invokedFunctionArn,
        requestId: context.awsRequestId,
        remainingMs: context.getRemainingTimeInMillis(),
      };
  }
};
