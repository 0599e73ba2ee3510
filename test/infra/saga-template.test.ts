import { describe, expect, test } from 'vitest';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate } from '../../local/template.ts';

const template = await loadTemplate();

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}

const policies = (): Statement[] =>
  Object.values(template.Resources)
    .filter(({ Type }) => Type === 'AWS::IAM::Policy')
    .flatMap(({ Properties }) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement);

describe('the ledger', () => {
  test('is found by reference and by day', () => {
    const ledger = planCloud(template).tables.find(({ name }) => name.includes('ledger'));
    expect(ledger?.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName)).toEqual([
      'gsi_external_ref',
      'gsi_day',
    ]);
  });
});

describe('the machine', () => {
  test('every placeholder of the definition has a value, and every value a placeholder', () => {
    const [machine, ...more] = planCloud(template).stateMachines;
    expect(more).toEqual([]);
    const placeholders = [...(machine?.definition ?? '').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect([...new Set(placeholders)].sort((a, b) => String(a).localeCompare(String(b)))).toEqual(
      Object.keys(machine?.substitutions ?? {}).sort(),
    );
  });

  test('is looked after by the clock and when an execution dies (S11)', () => {
    const { rules } = planCloud(template);
    expect(rules).toContainEqual({ kind: 'schedule', everyMs: 60_000, functionNames: ['walkback-sweep'] });
    expect(rules).toContainEqual({
      kind: 'execution-status',
      statuses: ['FAILED', 'TIMED_OUT', 'ABORTED'],
      functionNames: ['walkback-sweep'],
    });
  });
});

test('a tool sees tombstones and nothing else of the table (S4)', () => {
  const conditioned = policies().filter(({ Condition }) =>
    JSON.stringify(Condition ?? '').includes('TOMBSTONE#*'),
  );
  // The refund example's, the one behind HTTP tools, and the built-in tools'.
  expect(conditioned).toHaveLength(3);
});
