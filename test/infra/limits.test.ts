/** Limits of the services, held against what is deployed and what the code lets through. */
import { describe, expect, test } from 'vitest';
import { eventSchema } from '../../cdk/event-schemas.ts';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { isClientFunction, patienceMs } from '../../client/timeouts.ts';
import { EVENT_DETAILS } from '../../contract/events.ts';
import { executionName } from '../../core/saga/model/keys.ts';
import {
  ENGINE_SLACK_SECONDS,
  engineSeconds,
  LATE_COMMIT_MARGIN_MS,
  MAX_WAIT_SECONDS,
} from '../../core/saga/model/timing.ts';
import { checkFunctions } from '../../core/saga/plan/check-functions.ts';
import { EVENTS_PER_ROUND, MAX_HISTORY_EVENTS } from '../../core/saga/run/move.ts';
import { commandTimeout } from '../../core/shared/deadline.ts';
import { refundManifests } from '../../examples/refund/catalog.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate } from '../../local/template.ts';
import { entriesOf } from '../support/template.ts';
import { endingAfter } from '../support/tool-functions.ts';

const KIB = 1024;
const template = await loadTemplate();

interface State {
  Type: string;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
}

const states = (): Record<string, State> => {
  const [machine] = planCloud(template).stateMachines;
  return (JSON.parse(machine?.definition ?? '{}') as { States: Record<string, State> }).States;
};
const timeoutOf = (name: string): number => {
  const row = FUNCTIONS.find((one) => one.name === name);
  if (row === undefined) throw new Error(`no ${name}`);
  return row.timeoutSeconds;
};

describe('timeouts nest: tool, function, state', () => {
  test('a function ends before the state that calls it gives up, so its own error is what the machine sees', () => {
    expect(timeoutOf('advance-saga')).toBeLessThan(states()['Advance']?.TimeoutSeconds ?? 0);
    for (const [name, state] of Object.entries(states()).filter(([, { Type }]) => Type === 'Task')) {
      expect(state.TimeoutSeconds ?? state.TimeoutSecondsPath, name).toBeDefined();
    }
  });

  test('a tool stops acting, then its function ends, then its state; nothing in doubt is looked at before', () => {
    const manifests = refundManifests(servicesAt('http://127.0.0.1', 'k', fetch), 'walkback-tool-refund');
    const inFunction = timeoutOf('tool-refund');
    // What only reads cannot act late, so its state may be the first to end.
    for (const { timeoutSeconds, compensation } of manifests.filter(({ effect }) => effect !== 'read')) {
      for (const deadline of [timeoutSeconds, compensation?.timeoutSeconds ?? timeoutSeconds]) {
        const state = engineSeconds(deadline * 1000) + ENGINE_SLACK_SECONDS;
        expect(deadline).toBeLessThan(inFunction);
        expect(inFunction).toBeLessThan(state);
        expect(inFunction).toBeLessThanOrEqual(deadline + LATE_COMMIT_MARGIN_MS / 1000);
      }
    }
  });

  test('the catalog takes these tools for the function they are deployed in, and not for one that runs longer', async () => {
    const manifests = refundManifests(servicesAt('http://127.0.0.1', 'k', fetch), 'walkback-tool-refund');
    const put = (seconds: number) => checkFunctions(endingAfter(seconds), manifests);
    expect(await put(timeoutOf('tool-refund'))).toEqual([]);
    await expect(put(30 + ENGINE_SLACK_SECONDS)).rejects.toMatchObject({ name: 'CatalogRefused' });
  });
});

describe('timeouts nest: sandbox command, function, caller', () => {
  const inSandbox = FUNCTIONS.filter(({ grants }) => grants.sandbox === true);

  test('a command in the sandbox ends while its function can still verify, store and answer', () => {
    expect(inSandbox.length).toBeGreaterThan(4);
    for (const { name, timeoutSeconds } of inSandbox) {
      const clock = { now: () => new Date(0), sleep: async () => undefined };
      const command = commandTimeout({ deadlineMs: timeoutSeconds * 1000 }, clock);
      expect(command, name).toBeLessThanOrEqual(timeoutSeconds * 1000 - 10_000);
    }
  });

  test('the client and the command wait longer than any function that people and backends call', () => {
    const called = FUNCTIONS.filter(({ callers }) => callers.some((caller) => caller !== 'internal'));
    for (const { name, timeoutSeconds } of called) {
      const own = name.replace('walkback-', '');
      expect(isClientFunction(own) && patienceMs(own), name).toBeGreaterThan(timeoutSeconds * 1000);
    }
  });

  test('describe-saga outlives the longest wait a caller may ask for', () => {
    expect(timeoutOf('describe-saga')).toBeGreaterThan(600);
  });

  test('no function is over what Lambda allows, and what runs by the clock ends before it is late by much', () => {
    for (const { name, timeoutSeconds } of FUNCTIONS) {
      expect(timeoutSeconds, name).toBeLessThanOrEqual(900);
    }
    expect(timeoutOf('measure-sagas')).toBeLessThan(60);
    expect(timeoutOf('sweep')).toBeLessThanOrEqual(300);
  });

  test('no wait of the machine is longer than a task may last', () => {
    const century = 100 * 365 * 86_400_000;
    for (const ms of [0, 1, 1001, MAX_WAIT_SECONDS * 1000 + 1, century]) {
      const seconds = engineSeconds(ms);
      expect(Number.isInteger(seconds) && seconds >= 1 && seconds < 99_999_999, String(ms)).toBe(true);
    }
  });
});

describe('sizes', () => {
  test('environments are under 4 KB, with the longest names a deployment may get', () => {
    for (const { name, environment } of planCloud(template).functions) {
      const bytes = Object.entries(environment).reduce(
        (sum, [key, value]) => sum + key.length + value.length,
        0,
      );
      // A name made by CloudFormation has up to 255 characters where ours has a few.
      const longest = bytes + Object.keys(environment).length * 255;
      expect(longest, name).toBeLessThan(4 * KIB);
    }
  });

  test('the template is under 1 MB and 500 resources, the definition under 1 MB', () => {
    expect(Buffer.byteLength(JSON.stringify(template, undefined, 1))).toBeLessThan(1_000_000);
    expect(Object.keys(template.Resources).length).toBeLessThan(500);
    expect(planCloud(template).stateMachines[0]?.definition.length).toBeLessThan(1_000_000);
  });

  test('policies are under what IAM allows: 10,240 characters of a role, 6,144 of a managed policy', () => {
    const size = (value: unknown): number => JSON.stringify(value).replaceAll(/\s/g, '').length;
    for (const [id, { Properties }] of entriesOf(template, 'AWS::IAM::Policy')) {
      expect(size(Properties['PolicyDocument']), id).toBeLessThan(10_240);
    }
    for (const [id, { Properties }] of entriesOf(template, 'AWS::IAM::ManagedPolicy')) {
      expect(size(Properties['PolicyDocument']), id).toBeLessThan(6_144);
    }
  });

  test('schemas of events are under the registry’s 8 MB, and alarm names and descriptions under CloudWatch’s', () => {
    for (const [name, detail] of Object.entries(EVENT_DETAILS)) {
      expect(eventSchema(name, detail).length).toBeLessThan(100_000);
    }
    for (const [id, { Properties }] of entriesOf(template, 'AWS::CloudWatch::Alarm')) {
      expect(String(Properties['AlarmName']).length, id).toBeLessThan(256);
      expect(String(Properties['AlarmDescription']).length, id).toBeLessThan(1024);
    }
  });
});

describe('names and counts', () => {
  test('execution names have at most 80 characters, whatever the saga id and generation', () => {
    for (const sagaId of ['a'.repeat(64), `${'a'.repeat(62)}:b`, 'a:b:c']) {
      const name = executionName(sagaId, 999_999);
      expect(name).toMatch(/^[A-Za-z0-9_.-]{1,80}$/);
    }
  });

  test('a history leaves room for the round that crosses the line', () => {
    // With every retry of every state: 20 and 6 of Advance, 2 of Invoke, 3 events each.
    expect(MAX_HISTORY_EVENTS + EVENTS_PER_ROUND + 3 * (20 + 6 + 2)).toBeLessThan(25_000);
  });
});
