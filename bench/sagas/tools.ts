/** The tools that sagas of the benchmarks call, served by the embedded cloud as the function `tools`. */

import { setTimeout as work } from 'node:timers/promises';
import * as z from 'zod';
import { createTombstones } from '../../adapters/aws/sagas/saga-tombstones.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { manifestOf } from '../../kit/manifest.ts';

const input = z.strictObject({ resource: z.string(), workMs: z.int().min(0).max(5_000) });
const output = z.object({ done: z.boolean() });

const shared = {
  version: '1',
  description: '',
  input,
  output,
  timeoutSeconds: 10,
  idempotencyWindowSeconds: DAY_SECONDS,
  resourceKey: 'resource',
  execute: async ({ workMs }: z.output<typeof input>) => {
    if (workMs > 0) await work(workMs);
    return { done: true };
  },
};
const undo = async (): Promise<void> => undefined;

const change = defineTool({
  ...shared,
  name: 'change',
  effect: 'compensatable',
  compensate: { name: 'undo_change', execute: undo },
});
/** One saga at a time on each resource. */
const take = defineTool({
  ...shared,
  name: 'take',
  effect: 'compensatable',
  exclusive: true,
  compensate: { name: 'give_back', execute: undo },
});

export const manifests = [change, take].map((tool) => manifestOf(tool, 'tools'));

/** Of the cloud's own timeouts: below what the machine waits for a call. */
export const timeoutSeconds = 14;

const serve = () =>
  toolHandler([change, take], {
    tombstones: createTombstones({ sagasTable: process.env['WALKBACK_SAGAS_TABLE'] ?? '' }),
  });
let served: ReturnType<typeof serve> | undefined;

export const handler = (event: unknown) => (served ??= serve())(event);
