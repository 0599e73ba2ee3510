/** The AWS calls of an embedded cloud's functions, as the permissions that each needs. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { runningFunction } from '../../local/lambda/invoke.ts';
import { functionArn, tableArn } from '../../local/resolve.ts';

/** `action resource`: the resource is a table's or bucket's local name, `index` behind it for one of its indexes. */
export type Permission = string;

/** What IAM is asked about. */
export interface NeededPermission {
  action: string;
  /** Undefined where the request names none. */
  resource?: string | undefined;
  /** Of a table: the partition that the request names. */
  leadingKey?: unknown;
  permission: Permission;
}

type Attributes = Record<string, unknown>;

interface Input {
  TableName?: string;
  IndexName?: string;
  Key?: Attributes | string;
  Item?: Attributes;
  ExpressionAttributeValues?: Attributes;
  TransactItems?: { Put?: Input; Update?: Input; Delete?: Input; ConditionCheck?: Input }[];
  RequestItems?: Record<string, BatchRequest[] | { Keys: Attributes[] }>;
  Bucket?: string;
  Delete?: { Objects: { Key: string }[] };
  FunctionName?: string;
  stateMachineArn?: string;
  executionArn?: string;
  KeyId?: string;
  SecretId?: string;
}
interface BatchRequest {
  PutRequest?: { Item: Attributes };
  DeleteRequest?: { Key: Attributes };
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

const ofTable = (
  operation: string,
  { TableName = '', IndexName, Key, Item, ExpressionAttributeValues }: Input,
): NeededPermission => {
  const action = `dynamodb:${operation}`;
  const name = IndexName === undefined ? TableName : `${TableName} ${IndexName}`;
  const item = Item ?? (typeof Key === 'object' ? Key : { pk: ExpressionAttributeValues?.[':pk'] });
  return {
    action,
    resource: tableArn(name.replace(' ', '/index/')),
    ...(IndexName === undefined && { leadingKey: item['pk'] }),
    permission: `${action} ${name}`,
  };
};

const inBatch = (operation: string, requests: NonNullable<Input['RequestItems']>): NeededPermission[] =>
  Object.entries(requests).flatMap(([TableName, items]) => {
    const keys = Array.isArray(items)
      ? items.map(({ PutRequest, DeleteRequest }) => PutRequest?.Item ?? DeleteRequest?.Key ?? {})
      : items.Keys;
    return keys.map((Key) => ofTable(operation, { TableName, Key }));
  });

const inTransaction = (items: NonNullable<Input['TransactItems']>): NeededPermission[] =>
  items.flatMap((item) =>
    Object.entries(IN_TRANSACTION).flatMap(([member, action]) => {
      const input = item[member as keyof typeof IN_TRANSACTION];
      return input === undefined ? [] : [ofTable(action, input)];
    }),
  );

const ofBucket = (action: string, { Bucket = '', Key, Delete }: Input): NeededPermission[] => {
  const keys = Delete?.Objects.map((object) => object.Key) ?? (typeof Key === 'string' ? [Key] : []);
  const bucket = `arn:aws:s3:::${Bucket}`;
  const resources = keys.length === 0 ? [bucket] : keys.map((key) => `${bucket}/${key}`);
  return resources.map((resource) => ({ action, resource, permission: `${action} ${Bucket}` }));
};

const neededFor = (serviceId: string, operation: string, input: Input): NeededPermission[] => {
  const service = SERVICES[serviceId] ?? serviceId;
  if (input.TransactItems !== undefined) return inTransaction(input.TransactItems);
  if (input.RequestItems !== undefined) return inBatch(operation, input.RequestItems);
  if (service === 'dynamodb') return [ofTable(operation, input)];
  const action = ACTIONS[`${service}:${operation}`] ?? `${service}:${operation}`;
  if (service === 's3') return ofBucket(action, input);
  const { stateMachineArn, executionArn, KeyId, SecretId, FunctionName } = input;
  const called = FunctionName?.startsWith('arn:') === false ? functionArn(FunctionName) : FunctionName;
  const resource = stateMachineArn ?? executionArn ?? KeyId ?? SecretId ?? called;
  return [{ action, resource, permission: action }];
};

type Send = (
  this: { config: { serviceId: string } },
  command: { input: Input },
  ...rest: unknown[]
) => Promise<unknown>;

/**
 * Tells `look` of each call before it is made, until disposed. What runs for no function (the cloud itself, a test) is left out. A
 * call for which `look` rejects is not made.
 */
export const watchCalls = (
  look: (functionName: string, needed: readonly NeededPermission[]) => void | Promise<void>,
): Disposable => {
  // All clients of the SDK have one base.
  const prototype = Object.getPrototypeOf(DynamoDBClient.prototype) as { send: Send };
  const original = prototype.send;
  prototype.send = async function (command, ...rest) {
    const name = runningFunction.getStore();
    if (name !== undefined) {
      const short = command.constructor.name.replace(/Command$/, '');
      const serviceId = this.config.serviceId;
      const operation = serviceId === 'DynamoDB' ? (DOCUMENT_COMMANDS[short] ?? short) : short;
      await look(name, neededFor(serviceId, operation, command.input));
    }
    return original.call(this, command, ...rest);
  };
  return {
    [Symbol.dispose]: () => {
      prototype.send = original;
    },
  };
};

/** Records until disposed, by function name. */
export const recordCalls = (): { calls: Map<string, Set<Permission>> } & Disposable => {
  const calls = new Map<string, Set<Permission>>();
  const watching = watchCalls((name, needed) => {
    const known = calls.get(name) ?? new Set();
    for (const { permission } of needed) known.add(permission);
    calls.set(name, known);
  });
  return { calls, [Symbol.dispose]: () => watching[Symbol.dispose]() };
};
