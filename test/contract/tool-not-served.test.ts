/** A tool that is not there for sagas in flight is told to an alarm, whoever says that it is not. */
import type { Context } from 'aws-lambda';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { isNotServed } from '../../core/saga/tools/engine-errors.ts';
import { readReply } from '../../core/saga/tools/http-response.ts';
import { readEngineError, readToolResponse } from '../../core/saga/tools/tool-protocol.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { openSagaTables, SAGA_TABLES_CREDENTIALS } from '../support/saga-tables.ts';
import { shared } from '../support/shared.ts';
import { requestOf } from '../support/tool-requests.ts';

const look = defineTool({
  name: 'look',
  version: '2.0.0',
  description: 'Looks',
  effect: 'read',
  input: z.looseObject({}),
  output: z.looseObject({}),
  execute: async () => ({}),
});

/** As a function answers that serves 2.0.0 alone. */
const answerFor = (version: string): Promise<unknown> =>
  toolHandler([look], { tombstones: memoryTombstones() })(
    requestOf({ tool: 'look', version, operation: 'execute', arguments: {} }),
  );

describe('nobody served the call', () => {
  test('of a version that the function does not serve any more, and of no other', async () => {
    expect(isNotServed(readToolResponse(await answerFor('1.0.0')))).toBe(true);
    expect(isNotServed(readToolResponse(await answerFor('2.0.0')))).toBe(false);
  });

  test('of a function or an endpoint that is not there; a refusal, a throttle and a doubt are others', () => {
    expect(isNotServed(readEngineError('Lambda.ResourceNotFoundException', 'no such function'))).toBe(true);
    expect(isNotServed(readReply({ kind: 'unsent', message: 'refused' }, 0))).toBe(true);
    expect(isNotServed(readEngineError('Lambda.TooManyRequestsException', 'busy'))).toBe(false);
    expect(isNotServed(readEngineError('Lambda.Unknown', 'crashed'))).toBe(false);
    const no = { outcome: 'rejected', retryable: false, error: { name: 'No', message: 'no' } };
    expect(isNotServed(readToolResponse(no))).toBe(false);
  });
});

describe('the function of the state Advance', () => {
  const opened = shared(openSagaTables);

  test.each([
    ['1.0.0', [1]],
    ['2.0.0', []],
  ])('counts a call of version %s', async (version, counted) => {
    const { tables, url } = opened();
    const env = {
      WALKBACK_SAGAS_TABLE: tables.sagasTable,
      WALKBACK_LEDGER_TABLE: tables.ledgerTable,
      WALKBACK_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:m',
      WALKBACK_HTTP_TOOL_FUNCTION: 'walkback-http-tool',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: SAGA_TABLES_CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: SAGA_TABLES_CREDENTIALS.secretAccessKey,
      POWERTOOLS_METRICS_DISABLED: 'false',
      POWERTOOLS_METRICS_NAMESPACE: 'walkback',
      POWERTOOLS_DEV: 'true',
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const { handler } = await import('../../functions/advance-saga.ts');
    const spy = vi.spyOn(console, 'log').mockReturnValue();
    const operation = { effect: 0, direction: 'forward', attempt: 1, probes: 0 };
    const outcome = { Payload: await answerFor(version) };
    const state = { sagaId: 'nobody', generation: 1, action: 'INVOKE', operation, outcome };
    const context = {
      awsRequestId: 'r',
      getRemainingTimeInMillis: () => 60_000,
      functionName: 'walkback-advance-saga',
    } as Context;
    await expect(handler({ state, executionArn: 'arn' }, context)).rejects.toMatchObject({
      name: 'SagaNotFound',
    });
    const lines = spy.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
    spy.mockRestore();
    vi.unstubAllEnvs();
    expect(lines.flatMap((line) => line['tool.unavailable'] ?? [])).toEqual(counted);
  });
});
