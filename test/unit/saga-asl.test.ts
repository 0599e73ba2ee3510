import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isErrorName } from '../../contract/errors.ts';
import { ENGINE_ERRORS } from '../../core/shared/errors.ts';

/** A CommonJS package without types. */
const aslValidator = createRequire(import.meta.url)('asl-validator') as (definition: unknown) => {
  isValid: boolean;
  errorsText: (separator: string) => string;
};

const text = readFileSync(join(import.meta.dirname, '../../statemachines/saga.asl.json'), 'utf8');
interface State {
  Type: string;
  Resource?: string;
  Next?: string;
  Default?: string;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  Retry?: {
    ErrorEquals: string[];
    IntervalSeconds: number;
    BackoffRate: number;
    MaxAttempts: number;
    MaxDelaySeconds?: number;
    JitterStrategy?: string;
  }[];
  Catch?: { ErrorEquals: string[]; Next: string }[];
  Choices?: { Next: string }[];
  Error?: string;
}
const definition = JSON.parse(text) as { StartAt: string; States: Record<string, State> };
const states = Object.entries(definition.States);

describe('statemachines/saga.asl.json', () => {
  test.each(['aws', 'aws-cn', 'aws-us-gov'])('is valid for an independent validator in %s', (partition) => {
    const { isValid, errorsText } = aslValidator(JSON.parse(text.replaceAll('${Partition}', partition)));
    expect(isValid, errorsText('\n')).toBe(true);
  });

  test('matches only on names that are known, and fails with names of contract/errors.ts', () => {
    const known: readonly string[] = ENGINE_ERRORS;
    const matched = states.flatMap(([, { Retry = [], Catch = [] }]) =>
      [...Retry, ...Catch].flatMap((one) => one.ErrorEquals),
    );
    for (const name of matched) expect(known).toContain(name);
    const ends = states.flatMap(([, { Error: name }]) => (name === undefined ? [] : [name]));
    expect(ends.length).toBeGreaterThan(0);
    for (const name of ends) expect(isErrorName(name), name).toBe(true);
  });

  test('gives every task a timeout, and catches everything where a tool or a person is waited for', () => {
    for (const [name, state] of states) {
      if (state.Type !== 'Task') continue;
      expect(state.TimeoutSeconds ?? state.TimeoutSecondsPath, name).toBeDefined();
    }
    for (const name of ['Invoke', 'Await', 'Escalate']) {
      expect(definition.States[name]?.Catch?.at(-1)?.ErrorEquals).toEqual(['States.ALL']);
    }
    expect(definition.States['Invoke']?.Catch?.[0]?.ErrorEquals).toEqual(['States.DataLimitExceeded']);
  });

  test('repeats a call of a tool only when it was surely not started', () => {
    expect(definition.States['Invoke']?.Retry?.flatMap((one) => one.ErrorEquals)).toEqual([
      'Lambda.TooManyRequestsException',
      'Lambda.EC2ThrottledException',
    ]);
  });

  test('spreads every retry, and waits longer each time', () => {
    const retries = states.flatMap(([name, { Retry = [] }]) => Retry.map((retry) => ({ name, retry })));
    expect(new Set(retries.map(({ name }) => name))).toEqual(
      new Set(states.flatMap(([name, { Type }]) => (Type === 'Task' ? [name] : []))),
    );
    for (const { name, retry } of retries) {
      expect(retry, name).toMatchObject({ BackoffRate: 2, JitterStrategy: 'FULL' });
      expect(retry.IntervalSeconds, name).toBeGreaterThanOrEqual(1);
    }
  });

  test('waits minutes for a place of advance-saga, because what it records may be the answer of a call', () => {
    const [crowded] = definition.States['Advance']?.Retry ?? [];
    expect(crowded?.ErrorEquals).toContain('Lambda.TooManyRequestsException');
    const { IntervalSeconds = 0, BackoffRate = 0, MaxAttempts = 0, MaxDelaySeconds = 0 } = crowded ?? {};
    const pauses = Array.from({ length: MaxAttempts }, (_, n) =>
      Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** n),
    );
    // With full jitter, half of it in the mean.
    expect(pauses.reduce((sum, pause) => sum + pause, 0) / 2).toBeGreaterThan(5 * 60);
  });

  test('takes three transitions for a step', () => {
    const path = ['Advance'];
    while (path.length < 4) {
      const state = definition.States[path.at(-1) ?? ''];
      path.push(state?.Next ?? state?.Choices?.[0]?.Next ?? '');
    }
    expect(path).toEqual(['Advance', 'Route', 'Invoke', 'Advance']);
  });
});
