import { expect, test } from 'vitest';
import { type FunctionPlan, mergeEnvironments, planCloud } from '../../local/plan.ts';
import { createResolver } from '../../local/resolve.ts';
import type { Template } from '../../local/template.ts';
import { errorOf } from '../support/error-of.ts';

const resource = (Type: string, Properties = {}, Metadata = {}) => ({ Type, Properties, Metadata });
const template: Template = {
  Resources: {
    Table1A: resource('AWS::DynamoDB::Table', {
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
    Topic: resource('AWS::SNS::Topic', { TopicName: 'alerts' }),
    Fn: resource(
      'AWS::Lambda::Function',
      { FunctionName: 'walkback-one' },
      { 'walkback:entry': 'functions/one.ts' },
    ),
    Custom: resource('AWS::Lambda::Function', {}),
    Role: resource('AWS::IAM::Role'),
  },
};

test('references become local names', () => {
  const resolver = createResolver(template);
  const value = (input: unknown) => resolver.value(input);
  expect(value({ Ref: 'Table1A' })).toBe('table1a');
  expect(value({ Ref: 'Topic' })).toBe('arn:aws:sns:us-east-1:000000000000:alerts');
  expect(value({ 'Fn::GetAtt': ['Fn', 'Arn'] })).toBe(
    'arn:aws:lambda:us-east-1:000000000000:function:walkback-one',
  );
  expect(value({ 'Fn::Join': ['/', ['a', { Ref: 'AWS::Region' }, { Ref: 'Table1A' }]] })).toBe(
    'a/us-east-1/table1a',
  );
  expect(value({ 'Fn::Sub': 'x-${AWS::AccountId}-${Fn.Arn}' })).toBe(
    'x-000000000000-arn:aws:lambda:us-east-1:000000000000:function:walkback-one',
  );
  expect(value({ 'Fn::Sub': ['${Name}!', { Name: { Ref: 'Table1A' } }] })).toBe('table1a!');
  expect(value({ deep: [{ Ref: 'Fn' }, 1, null] })).toEqual({ deep: ['walkback-one', 1, null] });
});

test.each([
  ['a resource that the embedded cloud does not have', { Ref: 'Role' }, 'Role'],
  ['a resource that is not there', { Ref: 'Nobody' }, 'Nobody'],
  ['an attribute it does not know', { 'Fn::GetAtt': ['Table1A', 'Size'] }, 'Table1A.Size'],
  ['a function it does not know', { 'Fn::Cidr': [] }, 'Fn::Cidr'],
])('%s is an error that names it', (_, value, named) => {
  expect(() => createResolver(template).value(value)).toThrow(
    expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(named) }),
  );
});

test('functions without an entry (helpers that CDK adds) are left out', () => {
  expect(planCloud(template).functions).toEqual([
    {
      name: 'walkback-one',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:walkback-one',
      entry: 'functions/one.ts',
      timeoutMs: 3_000,
      memoryMb: 128,
      environment: {},
    },
  ]);
});

test('one environment for all functions; two values for one name are refused', () => {
  const fn = (name: string, environment: Record<string, string>): FunctionPlan => ({
    name,
    arn: '',
    entry: '',
    timeoutMs: 1,
    memoryMb: 1,
    environment,
  });
  expect(mergeEnvironments([fn('one', { A: '1' }), fn('two', { A: '1', B: '2' })])).toEqual({
    A: '1',
    B: '2',
  });
  expect(() => mergeEnvironments([fn('one', { A: '1' }), fn('two', { A: '2' })])).toThrow(
    expect.objectContaining(errorOf('ConfigurationError', /A is 1 in one but 2 in two/)),
  );
});

test('a function with more environment than Lambda takes is refused by name; one byte less is made', () => {
  const withVariable = (sizeBytes: number): Template => {
    const Variables = { NAME: 'x'.repeat(sizeBytes - 4) };
    const Fn = { ...template.Resources['Fn'], Properties: { Environment: { Variables } } };
    return { Resources: { ...template.Resources, Fn: { ...resource('', {}), ...Fn } } };
  };
  expect(planCloud(withVariable(4096)).functions).toHaveLength(1);
  expect(() => planCloud(withVariable(4097))).toThrow(
    expect.objectContaining(errorOf('ConfigurationError', /function fn has 4097 bytes .* 4096/)),
  );
});
