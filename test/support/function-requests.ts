/** Stands between the functions of a cloud in this process and the services that they ask. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runningFunction } from '../../local/lambda/invoke.ts';

type Send = (this: unknown, ...given: unknown[]) => Promise<unknown>;

/** Where the clients of all services send. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the base of all clients of the SDK
const prototype = Object.getPrototypeOf(DynamoDBClient.prototype) as { send: Send };

/** Each request that a function makes is made by `around`, which is told whose it is, and what it asks. Answers how to end that. */
export const aroundRequests = (
  around: (functionName: string, request: () => Promise<unknown>, command: unknown) => Promise<unknown>,
): (() => void) => {
  const original = prototype.send;
  prototype.send = async function (...given) {
    const name = runningFunction.getStore();
    const request = () => original.apply(this, given);
    return name === undefined ? request() : around(name, request, given[0]);
  };
  return () => {
    prototype.send = original;
  };
};
