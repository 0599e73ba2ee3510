/** The resources of the template for the embedded cloud, as data with local names. Pure. */

import * as z from 'zod';
import { HOUR_MS, MINUTE_MS } from '../contract/times.ts';
import { WalkbackError } from '../core/shared/errors.ts';
import { planRoutes, type RoutePlan } from './gateway/plan-routes.ts';
import { createResolver, type Resolver } from './resolve.ts';
import type { Resource, Template } from './template.ts';

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const tableSchema = z.object({
  AttributeDefinitions: z.array(
    z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
  ),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      }),
    )
    .default([]),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
  StreamSpecification: z
    .object({ StreamViewType: z.enum(['NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY']) })
    .optional(),
});

const functionSchema = z.object({
  Timeout: z.number().int().positive().max(900).default(3),
  MemorySize: z.number().int().positive().default(128),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }).default({ Variables: {} }),
});

const mappingSchema = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.number().int().positive().default(100),
  MaximumBatchingWindowInSeconds: z.number().int().min(0).default(0),
  MaximumRetryAttempts: z.number().int().default(-1),
  BisectBatchOnFunctionError: z.boolean().default(false),
  FunctionResponseTypes: z.array(z.string()).default([]),
});

export type TablePlan = z.infer<typeof tableSchema> & { name: string };

export interface FunctionPlan {
  name: string;
  arn: string;
  /** Path of the TypeScript entry, relative to the project. */
  entry: string;
  /** The name of its handler's export, for a function that is not Walkback's own; its entry is then absolute. */
  exported?: string;
  timeoutMs: number;
  memoryMb: number;
  environment: Record<string, string>;
}

/** A table's stream that feeds a function. */
export interface StreamPlan {
  tableName: string;
  functionName: string;
  batchSize: number;
  /** How long it collects changes. */
  windowMs: number;
  /** -1: no limit. */
  maxRetries: number;
  bisects: boolean;
  reportsItemFailures: boolean;
}

interface StateMachinePlan {
  stateMachineArn: string;
  /** The ASL text, with its placeholders. */
  definition: string;
  substitutions: Record<string, string>;
}

/** A rule of the default bus: by the clock, or for executions of a state machine that did not end well. */
type RulePlan =
  | { kind: 'schedule'; everyMs: number; functionNames: string[] }
  | { kind: 'execution-status'; statuses: string[]; functionNames: string[] };

export interface CloudPlan {
  tables: TablePlan[];
  buckets: string[];
  /** Buckets with object lock, and for how many days objects written there are locked. */
  locks: { bucket: string; days: number }[];
  /** ARNs of signing keys. */
  signingKeys: string[];
  eventBuses: string[];
  /** ARNs of topics. */
  topics: string[];
  functions: FunctionPlan[];
  streams: StreamPlan[];
  stateMachines: StateMachinePlan[];
  rules: RulePlan[];
  /** Routes of the HTTP API. Empty for a template without one. */
  routes: RoutePlan[];
}

/** `arn:...:table/NAME/stream/LABEL` or `arn:...:function:NAME`, or a plain name. */
const lastName = (reference: string): string =>
  /:table\/([^/]+)/.exec(reference)?.[1] ?? /:function:([^:]+)/.exec(reference)?.[1] ?? reference;

/** Lambda's limit for all names and values of one function. */
const MAX_ENVIRONMENT_BYTES = 4 * 1024;

/** Lambda refuses to make such a function, so it is refused here too. */
const checkEnvironment = (name: string, variables: Record<string, string>): void => {
  const sizeBytes = Buffer.byteLength(Object.entries(variables).flat().join(''));
  if (sizeBytes <= MAX_ENVIRONMENT_BYTES) return;
  throw new WalkbackError(
    'ConfigurationError',
    `function ${name} has ${sizeBytes} bytes of environment variables; Lambda takes ${MAX_ENVIRONMENT_BYTES}`,
    { details: { name, sizeBytes } },
  );
};

const planFunction = (logicalId: string, resource: Resource, resolver: Resolver): FunctionPlan => {
  const entry = resource.Metadata['walkback:entry'];
  if (typeof entry !== 'string') {
    throw new WalkbackError('ConfigurationError', `function ${logicalId} has no walkback:entry metadata`);
  }
  const { Timeout, MemorySize, Environment } = resource.Properties;
  const properties = functionSchema.parse(resolver.value({ Timeout, MemorySize, Environment }));
  const name = resolver.nameOf(logicalId);
  checkEnvironment(name, properties.Environment.Variables);
  return {
    name,
    arn: resolver.arnOf(logicalId),
    entry,
    timeoutMs: properties.Timeout * 1000,
    memoryMb: properties.MemorySize,
    environment: properties.Environment.Variables,
  };
};

const planStream = (resource: Resource, resolver: Resolver): StreamPlan => {
  const { DestinationConfig: _, ...rest } = resource.Properties;
  const mapping = mappingSchema.parse(resolver.value(rest));
  return {
    tableName: lastName(mapping.EventSourceArn),
    functionName: lastName(mapping.FunctionName),
    batchSize: mapping.BatchSize,
    windowMs: mapping.MaximumBatchingWindowInSeconds * 1000,
    maxRetries: mapping.MaximumRetryAttempts,
    bisects: mapping.BisectBatchOnFunctionError,
    reportsItemFailures: mapping.FunctionResponseTypes.includes('ReportBatchItemFailures'),
  };
};

const machineSchema = z.object({
  DefinitionString: z.string(),
  DefinitionSubstitutions: z.record(z.string(), z.string()).default({}),
});

const planMachine = (logicalId: string, resource: Resource, resolver: Resolver): StateMachinePlan => {
  const { DefinitionString, DefinitionSubstitutions } = resource.Properties;
  const properties = machineSchema.parse({
    DefinitionString,
    DefinitionSubstitutions: resolver.value(DefinitionSubstitutions ?? {}),
  });
  return {
    stateMachineArn: resolver.arnOf(logicalId),
    definition: properties.DefinitionString,
    substitutions: properties.DefinitionSubstitutions,
  };
};

/** The lock that objects written to such a bucket get automatically. */
const lockSchema = z.object({
  ObjectLockConfiguration: z.object({
    Rule: z.object({
      DefaultRetention: z.object({ Mode: z.literal('GOVERNANCE'), Days: z.number().int().positive() }),
    }),
  }),
});

const planLock = (bucket: string, { Properties }: Resource): CloudPlan['locks'] => {
  if (Properties['ObjectLockEnabled'] !== true) return [];
  const { Rule } = lockSchema.parse(Properties).ObjectLockConfiguration;
  return [{ bucket, days: Rule.DefaultRetention.Days }];
};

const ruleSchema = z.object({
  ScheduleExpression: z
    .string()
    .regex(/^rate\(\d+ (?:minute|hour)s?\)$/)
    .optional(),
  EventPattern: z.object({ detail: z.object({ status: z.array(z.string()) }) }).optional(),
  Targets: z.array(z.object({ Arn: z.string() })),
});

const planRule = (resource: Resource, resolver: Resolver): RulePlan => {
  const { ScheduleExpression, EventPattern, Targets } = resource.Properties;
  const rule = ruleSchema.parse(resolver.value({ ScheduleExpression, EventPattern, Targets }));
  const functionNames = rule.Targets.map(({ Arn }) => lastName(Arn));
  if (rule.EventPattern !== undefined) {
    return { kind: 'execution-status', statuses: rule.EventPattern.detail.status, functionNames };
  }
  const [, number = '1', unit] = /(\d+) (minute|hour)/.exec(rule.ScheduleExpression ?? '') ?? [];
  return {
    kind: 'schedule',
    everyMs: Number(number) * (unit === 'hour' ? HOUR_MS : MINUTE_MS),
    functionNames,
  };
};

/** Throws `ConfigurationError` when the template uses something that the embedded cloud does not know. */
export const planCloud = (template: Template): CloudPlan => {
  const resolver = createResolver(template);
  const of = (type: string): [string, Resource][] =>
    Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);
  const names = (type: string): string[] => of(type).map(([logicalId]) => resolver.nameOf(logicalId));
  const functions = of('AWS::Lambda::Function')
    .filter(([, resource]) => 'walkback:entry' in resource.Metadata)
    .map(([logicalId, resource]) => planFunction(logicalId, resource, resolver));
  return {
    tables: of('AWS::DynamoDB::Table').map(([logicalId, { Properties }]) => ({
      name: resolver.nameOf(logicalId),
      ...tableSchema.parse(Properties),
    })),
    buckets: names('AWS::S3::Bucket'),
    locks: of('AWS::S3::Bucket').flatMap(([logicalId, bucket]) =>
      planLock(resolver.nameOf(logicalId), bucket),
    ),
    signingKeys: of('AWS::KMS::Key')
      .filter(([, { Properties }]) => Properties['KeyUsage'] === 'SIGN_VERIFY')
      .map(([logicalId]) => resolver.arnOf(logicalId)),
    eventBuses: names('AWS::Events::EventBus'),
    topics: of('AWS::SNS::Topic').map(([logicalId]) => resolver.arnOf(logicalId)),
    functions,
    streams: of('AWS::Lambda::EventSourceMapping').map(([, resource]) => planStream(resource, resolver)),
    stateMachines: of('AWS::StepFunctions::StateMachine').map(([logicalId, resource]) =>
      planMachine(logicalId, resource, resolver),
    ),
    rules: of('AWS::Events::Rule').map(([, resource]) => planRule(resource, resolver)),
    routes: planRoutes(template, resolver),
  };
};

/**
 * One environment for all functions, because locally they share a process. Throws `ConfigurationError` when
 * two functions want different values under one name.
 */
export const mergeEnvironments = (functions: FunctionPlan[]): Record<string, string> => {
  const merged = new Map<string, { value: string; setBy: string }>();
  for (const { name: setBy, environment } of functions) {
    for (const [name, value] of Object.entries(environment)) {
      const before = merged.get(name);
      if (before !== undefined && before.value !== value) {
        throw new WalkbackError(
          'ConfigurationError',
          `${name} is ${before.value} in ${before.setBy} but ${value} in ${setBy}; functions share one environment locally`,
        );
      }
      merged.set(name, { value, setBy });
    }
  }
  return Object.fromEntries([...merged].map(([name, { value }]) => [name, value]));
};
