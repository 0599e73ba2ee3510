/**
 * Translates DynamoDB's requests into the engine's operations, and its answers into those of DynamoDB. The
 * engine's names are DynamoDB's in lower case. What it leaves out of an error (the item that a condition
 * failed on, the reasons of a transaction) is added here. Writes run one after another, so that what is added
 * is what the condition saw.
 */
import pLimit from 'p-limit';
import * as z from 'zod';
import { isWellFormed } from '../../core/shared/well-formed.ts';
import type { Changes } from '../streams/changes.ts';
import type { Engine } from './engine.ts';

type Parameters = Record<string, unknown>;

export interface Answer {
  status: 200 | 400 | 500;
  /** The answer as JSON. */
  text: string;
}

const TARGET = /^DynamoDB(?:Streams)?_20120810\.([A-Z][A-Za-z]+)$/;
/** Parameters that either always hold in this engine, or ask for counts that it does not make. */
const WITHOUT_MEANING = new Set(['ConsistentRead', 'ReturnConsumedCapacity', 'ReturnItemCollectionMetrics']);
const READS = /^(?:Get|Query|Scan|BatchGet|TransactGet|Describe|List)/;

const errorSchema = z.object({ error_type: z.string(), message: z.string() });
const single = z.object({
  TableName: z.string(),
  Key: z.record(z.string(), z.unknown()).optional(),
  Item: z.record(z.string(), z.unknown()).optional(),
  ReturnValuesOnConditionCheckFailure: z.string().optional(),
});
type Write = z.infer<typeof single>;
const transaction = z.object({ TransactItems: z.array(z.record(z.string(), single)) });
const table = z.object({ Table: z.object({ KeySchema: z.array(z.object({ AttributeName: z.string() })) }) });
const found = z.object({ Item: z.unknown().optional() });
const parametersSchema = z.record(z.string(), z.unknown());

/** `SSESpecification` becomes `sse_specification`. */
const snake = (name: string): string =>
  name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3_$2$4').toLowerCase();

const failure = (type: string, message: string, more: object = {}): Answer => ({
  status: type === 'InternalServerError' ? 500 : 400,
  text: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more }),
});

const parse = (body: Uint8Array): Parameters | undefined => {
  try {
    return parametersSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return undefined;
  }
};

/** How deep maps and lists of a value may be nested. Each is two levels of JSON. */
const MAX_LEVELS = 32;
/** Includes the levels around the values of a transaction. */
const MAX_JSON_DEPTH = 2 * MAX_LEVELS + 12;

const isTooDeep = (value: unknown): boolean => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
};

/** The engine gives no answer at all to a text that it cannot read as JSON. */
const unreadable = (request: Parameters): Answer | undefined => {
  if (!isWellFormed(request)) return failure('SerializationException', 'The request holds half a character');
  if (!isTooDeep(request)) return undefined;
  return failure('ValidationException', `Nesting Levels have exceeded supported limits (${MAX_LEVELS})`);
};

/** All requests to the engine pass here, so `changes` is told of every write. */
export const createOperations = (engine: Pick<Engine, 'operations' | 'call'>, changes?: Changes) => {
  changes?.watched();
  const keys = new Map<string, string[]>();
  const oneAtATime = pLimit(1);

  const keyNames = async (TableName: string): Promise<string[]> => {
    const known = keys.get(TableName);
    if (known !== undefined) return known;
    const { text } = await engine.call('describe_table', { table_name: TableName, raw: true });
    const names = table.parse(JSON.parse(text)).Table.KeySchema.map(({ AttributeName }) => AttributeName);
    keys.set(TableName, names);
    return names;
  };

  /** The item that a condition failed on, when it was asked for and exists. */
  const itemOf = async (write: Write): Promise<{ Item?: unknown }> => {
    if (write.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD') return {};
    const names = await keyNames(write.TableName);
    const key = write.Key ?? Object.fromEntries(names.map((name) => [name, write.Item?.[name]]));
    const { text } = await engine.call('get_item', { table_name: write.TableName, key });
    const { Item } = found.parse(JSON.parse(text));
    return Item === undefined ? {} : { Item };
  };

  const reasonsOf = async (message: string, request: Parameters): Promise<object[]> => {
    const codes = /\[([^\]]*)\]/.exec(message)?.[1]?.split(', ') ?? [];
    const writes = transaction.parse(request).TransactItems.flatMap((one) => Object.values(one));
    const reasons: object[] = [];
    for (const [n, Code] of codes.entries()) {
      const write = writes[n];
      if (Code !== 'ConditionalCheckFailed' || write === undefined) reasons.push({ Code });
      else reasons.push({ Code, Message: 'The conditional request failed', ...(await itemOf(write)) });
    }
    return reasons;
  };

  const failed = async (text: string, request: Parameters): Promise<Answer> => {
    const { error_type: type, message } = errorSchema.parse(JSON.parse(text));
    if (type === 'ConditionalCheckFailedException')
      return failure(type, message, await itemOf(single.parse(request)));
    if (type === 'TransactionCanceledException' && 'TransactItems' in request)
      return failure(type, message, { CancellationReasons: await reasonsOf(message, request) });
    return failure(type, message);
  };

  const run = async (name: string, parameters: Parameters, request: Parameters): Promise<Answer> => {
    const answer = await engine.call(name, parameters);
    return answer.failed ? failed(answer.text, request) : { status: 200, text: answer.text };
  };

  /** Answers one request, from anyone. */
  return async (target: string, body: Uint8Array): Promise<Answer> => {
    const operation = TARGET.exec(target)?.[1] ?? '';
    const name = snake(operation);
    const taken = engine.operations.get(name);
    if (taken === undefined)
      return failure(
        'UnknownOperationException',
        `${operation || 'This'} is not offered by the embedded cloud`,
      );
    const request = parse(body);
    if (request === undefined) return failure('SerializationException', 'The request is not a JSON object');
    const problem = unreadable(request);
    if (problem !== undefined) return problem;
    const given = Object.entries(request).filter(([parameter]) => !WITHOUT_MEANING.has(parameter));
    const unknown = given.map(([parameter]) => parameter).filter((parameter) => !taken.has(snake(parameter)));
    if (unknown.length > 0)
      return failure('ValidationException', `Not offered by the embedded cloud: ${unknown.join(', ')}`);
    const parameters = Object.fromEntries(given.map(([parameter, value]) => [snake(parameter), value]));
    // Without it the engine describes a table in words of its own.
    if (name === 'describe_table') parameters['raw'] = true;
    const work = () => run(name, parameters, request);
    if (READS.test(operation)) return work();
    try {
      const answer = await oneAtATime(work);
      if (answer.status === 200) changes?.written();
      return answer;
    } catch (error) {
      // The answer was lost, so the write may have happened.
      changes?.written();
      throw error;
    }
  };
};
