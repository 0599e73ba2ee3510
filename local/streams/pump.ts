/**
 * Feeds the stream of a table to a function, like an event source mapping. It owns the position on disk,
 * which moves only after a batch was accepted (or given up and kept): at least once, in order.
 */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import * as z from 'zod';
import { plural } from '../../core/shared/plural.ts';
import type { Log } from '../../core/shared/surroundings.ts';
import type { InvocationResult } from '../lambda/run-handler.ts';
import type { StreamPlan } from '../plan.ts';
import { REGION } from '../resolve.ts';
import type { Changes } from './changes.ts';
import { DEAD_LETTERS_FILE } from './dead-letters.ts';
import { type Attempt, createDelivery } from './deliver.ts';
import { openPosition, type Position } from './position.ts';
import { createStreamReader } from './reader.ts';
import { type EventRecord, toEventRecord } from './record.ts';

/** How long it collects changes. A cloud in which nothing is written is not asked at all. */
const GATHER_MS = 200;
const ERROR_PAUSE_MS = 1_000;

export interface StreamPump {
  /** Resolves when everything that was in the stream at the time of the call has been delivered. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

export interface PumpOptions {
  plan: StreamPlan;
  ttlAttribute?: string;
  /** Named as in DynamoDB; changes when the table is made anew. */
  streamArn: string;
  streams: DynamoDBStreamsClient;
  dataDir: string;
  changes: Changes;
  invoke: (event: unknown) => Promise<InvocationResult>;
  log: Log;
}

const failuresSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string().optional() })).default([]),
});

/** The meaning of a function's answer for its batch. With an unknown identifier, the whole batch failed. */
const readAnswer = (
  result: InvocationResult,
  sequenceNumbers: (string | undefined)[],
  reportsItemFailures: boolean,
): Attempt => {
  if (result.failed) return { outcome: 'failed', error: result.payload };
  if (!reportsItemFailures) return { outcome: 'taken' };
  const answer = failuresSchema.safeParse(JSON.parse(result.payload) ?? {});
  const failures = answer.success ? answer.data.batchItemFailures : [];
  if (failures.length === 0) return { outcome: 'taken' };
  const indexes = failures.map((failure) => sequenceNumbers.indexOf(failure.itemIdentifier));
  return { outcome: 'failed', error: result.payload, failedFrom: Math.max(0, Math.min(...indexes)) };
};

const createBatchDelivery = ({ plan, dataDir, invoke, log }: PumpOptions, signal: AbortSignal) =>
  createDelivery<EventRecord>({
    invoke: async (Records) =>
      readAnswer(
        await invoke({ Records }),
        Records.map((record) => record.dynamodb?.SequenceNumber),
        plan.reportsItemFailures,
      ),
    giveUp: async (records, error) => {
      log.warn(
        `${plan.functionName} did not take ${plural(records.length, 'record')}; kept in ${DEAD_LETTERS_FILE}`,
        {
          error,
        },
      );
      const line = JSON.stringify({
        at: new Date().toISOString(),
        function: plan.functionName,
        error,
        records,
      });
      await appendFile(join(dataDir, DEAD_LETTERS_FILE), `${line}\n`, { mode: 0o600 });
    },
    maxRetries: plan.maxRetries,
    bisects: plan.bisects,
    signal,
  });

export const startPump = async (options: PumpOptions): Promise<StreamPump> => {
  const { plan, log, streamArn, changes } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const file = openPosition(join(options.dataDir, 'streams', `${plan.tableName}.${plan.functionName}.json`));
  let delivered: Position | undefined = await file.read();
  let reader = createStreamReader(options.streams, streamArn, delivered);
  const deliver = createBatchDelivery(options, signal);
  const waiting: (() => void)[] = [];
  let wake: (() => void) | undefined;

  /** Reads once and delivers what it read; false when there was nothing. */
  const step = async (): Promise<boolean> => {
    const { records, after } = await reader.next(plan.batchSize);
    if (records.length > 0) {
      await deliver(records.map((record) => toEventRecord(record, { ...options, region: REGION })));
    }
    if (after !== undefined && after.sequenceNumber !== delivered?.sequenceNumber) {
      await file.write(after);
      delivered = after;
    }
    return records.length > 0;
  };

  /** Waits until more was written than before the last read. */
  const pause = async (seen: number): Promise<void> => {
    const woken = Promise.withResolvers<void>();
    wake = woken.resolve;
    const gatherMs = Math.max(GATHER_MS, plan.windowMs);
    // A long wait that was cut short must not stay behind.
    const over = new AbortController();
    const until = { signal: AbortSignal.any([signal, over.signal]), ref: false };
    const gathered = Promise.all([delay(gatherMs, undefined, until), changes.after(seen)]);
    try {
      await Promise.race([woken.promise, gathered]);
    } finally {
      over.abort();
    }
  };

  const turn = async (): Promise<void> => {
    // If a read finds nothing, everything was delivered to all who asked before it.
    const asked = waiting.length;
    const seen = changes.count();
    if (await step()) return;
    for (const resolve of waiting.splice(0, asked)) resolve();
    if (waiting.length === 0) await pause(seen);
  };

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await turn();
      } catch (error) {
        if (signal.aborted) break;
        log.warn(`the stream of ${plan.tableName} is stuck`, { error: String(error) });
        reader = createStreamReader(options.streams, streamArn, delivered);
        await delay(ERROR_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    for (const resolve of waiting) resolve();
  };
  const ended = loop();

  return {
    drained: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal.aborted) return Promise.resolve();
      waiting.push(resolve);
      wake?.();
      return promise;
    },
    close: async () => {
      stopping.abort();
      wake?.();
      await ended;
    },
  };
};
