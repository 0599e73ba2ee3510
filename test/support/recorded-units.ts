/**
 * Records the cost of one function of an embedded cloud: units of tables and indexes as DynamoDB counts
 * them, and stored objects.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runningFunction } from '../../local/lambda/invoke.ts';

interface Consumed {
  CapacityUnits?: number;
}
interface Answer {
  ConsumedCapacity?: Consumed | Consumed[];
}
type Send = (
  this: { config: { serviceId: string } },
  command: { input: object },
  ...rest: unknown[]
) => Promise<Answer>;

export interface Units {
  /** With the indexes. */
  writes: number;
  reads: number;
  objects: number;
}

const READS = /^(?:Get|Query|Scan|BatchGet)/;

/** Records until disposed: one function, or everything in this process. */
export const recordUnits = (functionName?: string): { units: Units; [Symbol.dispose](): void } => {
  const units: Units = { writes: 0, reads: 0, objects: 0 };
  const prototype = Object.getPrototypeOf(DynamoDBClient.prototype) as { send: Send };
  const original = prototype.send;
  prototype.send = async function (command, ...rest) {
    if (functionName !== undefined && runningFunction.getStore() !== functionName)
      return original.call(this, command, ...rest);
    const operation = command.constructor.name;
    if (this.config.serviceId === 'DynamoDB')
      Object.assign(command.input, { ReturnConsumedCapacity: 'INDEXES' });
    const answer = await original.call(this, command, ...rest);
    if (operation === 'PutObjectCommand') units.objects += 1;
    for (const { CapacityUnits = 0 } of [answer.ConsumedCapacity ?? []].flat()) {
      units[READS.test(operation) ? 'reads' : 'writes'] += CapacityUnits;
    }
    return answer;
  };
  return {
    units,
    [Symbol.dispose]: () => {
      prototype.send = original;
    },
  };
};
