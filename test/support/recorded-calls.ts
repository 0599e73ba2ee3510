/** Records the AWS calls of an embedded cloud's functions, as the permissions that each needs. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runningFunction } from '../../local/lambda/invoke.ts';

/** `action resource`: the resource is a table's or bucket's local name, `index` behind it for one of its indexes. */
export type Permission = string;

interface Input {
  TableName?: string;
  IndexName?: string;
  Bucket?: string;
  TransactItems?: { Put?: Input; Update?: Input; Delete?: Input; ConditionCheck?: Input }[];
  RequestItems?: Record<string, unknown>;
}

/** Operations that are authorised under another name than their own. */
const ACTIONS: Record<string, string> = {
  'lambda:Invoke': 'lambda:InvokeFunction',
  's3:HeadObject': 's3:GetObject',
  's3:DeleteObjects': 's3:DeleteObject',
  's3:ListObjectVersions': 's3:ListBucketVersions',
};
const SERVICES: Record<string, string> = {
  DynamoDB: 'dynamodb',
  S3: 's3',
  SFN: 'states',
  EventBridge: 'events',
  Lambda: 'lambda',
  KMS: 'kms',
  'Secrets Manager': 'secretsmanager',
};
const IN_TRANSACTION = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};
const DOCUMENT_COMMANDS: Record<string, string> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  TransactWrite: 'TransactWriteItems',
  BatchWrite: 'BatchWriteItem',
  BatchGet: 'BatchGetItem',
};

const permissionsOf = (serviceId: string, operation: string, input: Input): Permission[] => {
  const service = SERVICES[serviceId] ?? serviceId;
  if (operation === 'TransactWriteItems') {
    return (input.TransactItems ?? []).flatMap((item) =>
      Object.entries(IN_TRANSACTION).flatMap(([member, action]) => {
        const table = item[member as keyof typeof IN_TRANSACTION]?.TableName;
        return table === undefined ? [] : [`dynamodb:${action} ${table}`];
      }),
    );
  }
  if (input.RequestItems !== undefined) {
    return Object.keys(input.RequestItems).map((table) => `dynamodb:${operation} ${table}`);
  }
  const action = ACTIONS[`${service}:${operation}`] ?? `${service}:${operation}`;
  if (service === 'dynamodb') {
    return [`${action} ${input.TableName}${input.IndexName === undefined ? '' : ` ${input.IndexName}`}`];
  }
  return [service === 's3' ? `${action} ${input.Bucket}` : action];
};

type Send = (
  this: { config: { serviceId: string } },
  command: { input: Input },
  ...rest: unknown[]
) => unknown;

/** Records until disposed. By function name; what runs for no function (the cloud itself, a test) is left out. */
export const recordCalls = (): { calls: Map<string, Set<Permission>>; [Symbol.dispose](): void } => {
  const calls = new Map<string, Set<Permission>>();
  // All clients of the SDK have one base.
  const prototype = Object.getPrototypeOf(DynamoDBClient.prototype) as { send: Send };
  const original = prototype.send;
  prototype.send = function (command, ...rest) {
    const name = runningFunction.getStore();
    if (name !== undefined) {
      const short = command.constructor.name.replace(/Command$/, '');
      const serviceId = this.config.serviceId;
      const operation = serviceId === 'DynamoDB' ? (DOCUMENT_COMMANDS[short] ?? short) : short;
      const known = calls.get(name) ?? new Set();
      for (const permission of permissionsOf(serviceId, operation, command.input)) known.add(permission);
      calls.set(name, known);
    }
    return original.call(this, command, ...rest);
  };
  return {
    calls,
    [Symbol.dispose]: () => {
      prototype.send = original;
    },
  };
};
