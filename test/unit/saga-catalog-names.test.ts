/** The catalog refuses an expression of a tool that names what is never there. */
import { expect, test } from 'vitest';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { parseTool } from '../../core/saga/plan/catalog.ts';
import { refundManifests } from '../../examples/refund/catalog.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import catalog from '../../tools/catalog.json' with { type: 'json' };
import { scriptedTool } from '../support/scripted-saga.ts';

const text = { type: 'string' };
const CUSTOMER = { type: 'object', properties: { id: text }, additionalProperties: false };
const INPUT = {
  type: 'object',
  properties: { orderId: text, customer: CUSTOMER, lines: { type: 'array', items: CUSTOMER }, more: {} },
  required: ['orderId'],
};
const OUTPUT = { type: 'object', properties: { amount: text, currency: text }, additionalProperties: false };

const toolWith = (more: Partial<ToolManifest>, input: object = INPUT): ToolManifest =>
  scriptedTool('pay', 'compensatable', {
    schemas: { input: { ...input }, output: OUTPUT, compensation: {} },
    ...more,
  });
const keyed = (resourceKey: string, input?: object) => toolWith({ resourceKey }, input);

const FOUND = [
  '"order/" & orderId',
  '$.orderId',
  '$$.customer.id',
  'customer.id[0]',
  '$string(orderId) & customer.id',
  '$join(lines.id, "-")',
  'lines[id = "a"].id',
  'lines.(id & "x")',
  '$map(lines, function($line) { $line.id & orderId })[0]',
  '($key := orderId; $key & "x")',
  'lines^(id)[0].id',
  'more.anything.at.all',
  '*',
  '"all"',
  'customer.id ~> $uppercase',
];
test.each(FOUND)('a key that may be found is stored: %s', (resourceKey) => {
  expect(parseTool(keyed(resourceKey))).toMatchObject({ resourceKey });
});

const LOST: [resourceKey: string, named: string][] = [
  ['arguments.orderId', 'arguments.orderId'],
  ['"order/" & arguments.orderId', 'arguments.orderId'],
  ['orderid', 'orderid'],
  ['$.order', 'order'],
  ['$$.order', 'order'],
  ['"c/" & customer.name', 'customer.name'],
  ['$string(order)', 'order'],
  ['orderId = "" ? order : orderId', 'order'],
  ['($key := order; $key)', 'order'],
  ['[orderId, order][0]', 'order'],
  ['$map(lines, function($line) { $line.id & order })[0]', 'order'],
  ['result.amount', 'result.amount'],
];
test.each(LOST)('a key that is never found is refused: %s', (resourceKey, named) => {
  expect(() => parseTool(keyed(resourceKey))).toThrow(
    `tool pay@1: resourceKey: ${resourceKey} names ${named}, which the schemas of the tool do not have; it sees orderId, customer, lines, more`,
  );
});

const OPEN: [of: string, input: object][] = [
  ['nothing', {}],
  ['no members', { type: 'object' }],
  ['other members', { ...INPUT, additionalProperties: {} }],
  ['members of a pattern', { ...INPUT, patternProperties: { '^x': {} } }],
  ['members beside others', { ...INPUT, dependentSchemas: { orderId: { properties: { order: text } } } }],
  ['a type for the others', { ...INPUT, unevaluatedProperties: text }],
  ['that one is required', { ...INPUT, required: ['orderId', 'order'] }],
  ['one of several', { ...INPUT, anyOf: [INPUT, { properties: { order: text } }] }],
];
test.each(OPEN)('a schema that says %s may have any member', (_, input) => {
  expect(parseTool(keyed('order', input))).toBeDefined();
});

test('amounts and currencies see arguments, result and reference, and those of a compensator what it answered', () => {
  const money = {
    amount: 'result.amount',
    currency: 'result.currency',
    amountDirection: 'in',
  } as const;
  const back = (more: object) => {
    const { compensation } = toolWith({});
    return toolWith({ ...money, compensation: { ...(compensation ?? expect.unreachable()), ...more } });
  };
  expect(parseTool(toolWith({ ...money, amount: 'arguments.more' }))).toBeDefined();
  expect(parseTool(back({ amount: 'undone.amount', currency: 'undone.currency' }))).toBeDefined();
  const refused: [ToolManifest, string][] = [
    [toolWith({ ...money, amount: 'amount' }), 'amount: amount names amount,'],
    [toolWith({ ...money, amount: 'result.cents' }), 'amount: result.cents names result.cents,'],
    [toolWith({ ...money, currency: 'EUR' }), 'currency: EUR names EUR,'],
    [toolWith({ ...money, amount: 'arguments.amount' }), 'amount: arguments.amount names arguments.amount,'],
    [toolWith({ ...money, amount: 'undone.amount' }), 'amount: undone.amount names undone.amount,'],
    [back({ amount: 'amount' }), 'compensation.amount: amount names amount,'],
    [back({ amount: '1', currency: 'EUR' }), 'compensation.currency: EUR names EUR,'],
  ];
  for (const [tool, message] of refused) expect(() => parseTool(tool), message).toThrow(message);
});

test('the tools that come with Walkback, and those of the examples, are stored', () => {
  const refund = refundManifests(servicesAt('http://127.0.0.1:1', 'key', fetch), 'fn');
  const own = catalog.tools.map((tool) => ({ ...tool, functionName: 'fn' }));
  for (const tool of [...refund, ...own]) expect(parseTool(tool)).toMatchObject({ name: tool.name });
});
