/** Several deployments in one account, and names at the longest that services take. */
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../cdk/settings.ts';
import type { Template } from '../../local/template.ts';
import { synthesise } from '../support/synthesise.ts';

const LONGEST = 'p'.repeat(41);

/** What two resources of one kind cannot share in an account and region; the rest is named by CloudFormation. */
const NAMES: Record<string, { property: string; most: number }> = {
  'AWS::Lambda::Function': { property: 'FunctionName', most: 64 },
  'AWS::StepFunctions::StateMachine': { property: 'StateMachineName', most: 80 },
  'AWS::Events::EventBus': { property: 'Name', most: 256 },
  'AWS::CloudWatch::Alarm': { property: 'AlarmName', most: 255 },
  'AWS::CloudWatch::Dashboard': { property: 'DashboardName', most: 255 },
  'AWS::Athena::WorkGroup': { property: 'Name', most: 128 },
  // Tables are named inside their database.
  'AWS::Glue::Table': { property: 'DatabaseName', most: 255 },
  'AWS::Logs::LogGroup': { property: 'LogGroupName', most: 512 },
};

const withPrefix = (namePrefix: string): Template =>
  synthesise((stack) => ({ ...readSettings(stack), namePrefix })).template;

/** Names that the template fixes, by kind; what a pseudo parameter adds counts as the longest there is. */
const namesOf = (template: Template): { type: string; name: string }[] =>
  Object.values(template.Resources).flatMap(({ Type, Properties }) => {
    const value = Properties[NAMES[Type]?.property ?? ''];
    if (value === undefined) return [];
    const name = typeof value === 'string' ? value : JSON.stringify(value).padEnd(200, '.');
    return [{ type: Type, name }];
  });

const first = withPrefix('walkback');
const second = withPrefix(LONGEST);

test('two deployments in one account and region share no name', () => {
  const [ours, theirs] = [first, second].map((template) => namesOf(template).map(({ name }) => name));
  expect(ours?.length).toBeGreaterThan(80);
  expect(new Set(ours).intersection(new Set(theirs))).toEqual(new Set());
});

test('every property that fixes a name is known here', () => {
  const inside =
    /^AWS::(?:Athena::NamedQuery|EventSchemas|IAM|Lambda::(?:Permission|EventSourceMapping|EventInvokeConfig))/;
  const fixed = Object.values(first.Resources).flatMap(({ Type, Properties }) =>
    inside.test(Type)
      ? []
      : Object.keys(Properties)
          .filter((key) => key === 'Name' || (key.endsWith('Name') && key !== 'MetricName'))
          .filter((key) => key !== 'DisplayName')
          .map((key) => `${Type} ${key}`),
  );
  expect(new Set(fixed)).toEqual(
    new Set(Object.entries(NAMES).map(([type, { property }]) => `${type} ${property}`)),
  );
});

test('two regions share no dashboard: those are of the whole account', () => {
  const dashboards = namesOf(first).filter(({ type }) => type === 'AWS::CloudWatch::Dashboard');
  expect(dashboards).toMatchObject([{ name: expect.stringContaining('AWS::Region') }]);
});

describe('a prefix', () => {
  test('of the longest kind leaves every name in its limit', () => {
    for (const { type, name } of namesOf(second)) {
      expect(name.length, `${type} ${name}`).toBeLessThanOrEqual(NAMES[type]?.most ?? 0);
    }
  });

  test.each([`${LONGEST}p`, '', 'a b', 'a/b', '1st', 'a.b'])('%s is refused', (namePrefix) => {
    expect(() => withPrefix(namePrefix)).toThrow(/namePrefix/);
  });
});

test.each(['*', '', 'pay:7', 'pay*', 'arn:aws:lambda:eu-west-1:111122223333:function:pay'])(
  'the tool function %s is refused: it would stand in policies',
  (name) => {
    expect(() => synthesise((stack) => ({ ...readSettings(stack), toolFunctions: [name] }))).toThrow(
      /toolFunctions/,
    );
  },
);
