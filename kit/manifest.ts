/**
 * Generates the catalog entry of a tool. One bundle holds every schema, so code and catalog cannot drift
 * apart.
 */

import * as z from 'zod';
import { HOUR_SECONDS } from '../contract/times.ts';
import {
  type CompensationRetry,
  DEFAULT_TIMEOUT_SECONDS,
  type JsonSchema,
  type RetryPolicy,
  type ToolManifest,
} from '../core/saga/model/tool.ts';
import { HTTP_TOOL_FUNCTION } from '../core/saga/tools/http-endpoint.ts';
import type { Tool } from './define-tool.ts';

const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 3,
  backoffSeconds: 1,
  backoffRate: 2,
  maxBackoffSeconds: 60,
};
/**
 * Outlasts ordinary outages: pauses grow to five minutes, people are told after five minutes, and the retries
 * end after half a day.
 */
const DEFAULT_COMPENSATION_RETRY: CompensationRetry = {
  maxAttempts: 1000,
  backoffSeconds: 1,
  backoffRate: 2,
  maxBackoffSeconds: 300,
  jitter: 0.5,
  delayedAfterSeconds: 300,
  giveUpAfterSeconds: 12 * HOUR_SECONDS,
};

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest;
};

/** The schema of a compensator's input. */
const undoSchema = (tool: Tool): z.ZodType =>
  z.strictObject({
    arguments: tool.definition.input,
    result: tool.definition.output.optional(),
    externalRef: z.string().optional(),
    forwardKey: z.string(),
    idempotencyKey: z.string(),
  });

/** Where the tool is served: a function (a name, an ARN, or an ARN with a qualifier), or an HTTP endpoint (an absolute URL). */
export const manifestOf = (tool: Tool, served: string | { endpoint: string }): ToolManifest => {
  const { definition } = tool;
  const { compensate } = definition;
  return {
    name: definition.name,
    version: definition.version,
    description: definition.description,
    effect: definition.effect,
    ...(typeof served === 'string'
      ? { functionName: served }
      : { functionName: HTTP_TOOL_FUNCTION, endpoint: served.endpoint }),
    timeoutSeconds: definition.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    retry: { ...DEFAULT_RETRY, ...definition.retry },
    idempotencyWindowSeconds: definition.idempotencyWindowSeconds ?? 0,
    replaysErrors: definition.replaysErrors ?? false,
    probe: tool.hasProbe,
    ...(compensate === undefined
      ? {}
      : {
          compensation: {
            name: compensate.name,
            timeoutSeconds: compensate.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
            retry: { ...DEFAULT_COMPENSATION_RETRY, ...compensate.retry },
            ...(compensate.amount === undefined ? {} : { amount: compensate.amount }),
            ...(compensate.currency === undefined ? {} : { currency: compensate.currency }),
          },
        }),
    ...(definition.externalUrl === undefined ? {} : { externalUrl: definition.externalUrl }),
    ...(definition.resourceKey === undefined ? {} : { resourceKey: definition.resourceKey }),
    ...(definition.exclusive === true ? { exclusive: true } : {}),
    ...(definition.amount === undefined ? {} : { amount: definition.amount }),
    ...(definition.currency === undefined ? {} : { currency: definition.currency }),
    ...(definition.amountDirection === undefined ? {} : { amountDirection: definition.amountDirection }),
    ...(definition.minorUnits === true ? { minorUnits: true } : {}),
    ...(definition.reviewBy === undefined ? {} : { reviewBy: definition.reviewBy }),
    schemas: {
      input: jsonSchema(definition.input, 'input'),
      output: jsonSchema(definition.output, 'output'),
      ...(compensate === undefined ? {} : { compensation: jsonSchema(undoSchema(tool), 'input') }),
    },
  };
};
