/** The template that tells people: which events, to whom, in which form; and no secret in it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { Notifications } from '../../cdk/constructs/notifications.ts';
import { tellPeople } from '../../examples/embedded/notifications.ts';
import { messageProblem } from '../../local/events/limits.ts';
import { PROJECT } from '../../local/template.ts';
import { createApp } from '../support/synthesise.ts';

test('approvals and failed compensations go to a topic, and to an API with its secret by name', () => {
  const stack = new Stack(createApp({}), 'Test');
  tellPeople(stack, new EventBus(stack, 'Bus'), new Topic(stack, 'Mail'));
  const template = Template.fromStack(stack);
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: {
      source: ['walkback'],
      'detail-type': ['saga.awaiting', 'saga.compensation_failed'],
      detail: { notice: { text: [{ exists: true }] } },
    },
    Targets: [
      { InputPath: '$.detail' },
      {
        InputTransformer: {
          InputPathsMap: {
            'detail-notice-text': '$.detail.notice.text',
            'detail-eventId': '$.detail.eventId',
          },
          InputTemplate: '{"channel":"C0123","text":<detail-notice-text>,"eventId":<detail-eventId>}',
        },
      },
    ].map((target) => Match.objectLike(target)),
  });
  template.hasResourceProperties('AWS::Events::ApiDestination', {
    HttpMethod: 'POST',
    InvocationEndpoint: 'https://slack.com/api/chat.postMessage',
  });
  const connection = Object.values(template.findResources('AWS::Events::Connection'))[0];
  const parameters = connection?.['Properties'].AuthParameters.ApiKeyAuthParameters;
  expect(JSON.stringify(parameters.ApiKeyValue)).toContain('{{resolve:secretsmanager:walkback/slack');
});

test('docs/operations.md shows the sample as it is', async () => {
  const source = await readFile(join(PROJECT, 'examples/embedded/notifications.ts'), 'utf8');
  const text = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
  expect(text).toContain(`\`\`\`ts\n${source}\`\`\``);
});

const APPROVAL = {
  eventId: 'e-1',
  sagaId: 'order-9',
  notice: {
    kind: 'approval_waiting',
    subject: 'Walkback: approval waits: order-9',
    text: 'Saga order-9 waits\nLook: https://console.example/sagas/order-9',
    tool: 'issue_refund',
    amount: '19.99',
    currency: 'EUR',
  },
};

/** The arguments of a state, as Step Functions makes them of an input. */
const argumentsOf = async (state: { Arguments: Record<string, string> }, input: object) => {
  const made = await Promise.all(
    Object.entries(state.Arguments).map(async ([name, text]) => {
      const [, expression] = /^\{%([\s\S]*)%\}$/.exec(text) ?? [];
      return [
        name,
        expression === undefined ? text : await jsonata(expression).evaluate({}, { states: { input } }),
      ];
    }),
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(made))) as Record<string, unknown>;
};

const statesOf = (props: { fifo?: true; kept?: true }) => {
  const stack = new Stack(createApp({}), 'Test');
  new Notifications(stack, 'People', {
    bus: new EventBus(stack, 'Bus'),
    topic: new Topic(stack, 'Mail', { fifo: props.fifo, masterKey: new Key(stack, 'Key') }),
    ...(props.kept && { deadLetterQueue: new Queue(stack, 'Left') }),
  });
  const template = Template.fromStack(stack);
  const [machine] = Object.values(template.findResources('AWS::StepFunctions::StateMachine'));
  return { states: JSON.parse(machine?.['Properties'].DefinitionString).States, machine, template };
};

test('a topic gets subject and attributes that SNS takes, and only those that are known', async () => {
  const { states, machine, template } = statesOf({});
  expect(machine?.['Properties'].StateMachineType).toBe('EXPRESS');
  const approval = await argumentsOf(states.Tell, APPROVAL);
  expect(approval).toMatchObject({
    Subject: APPROVAL.notice.subject,
    Message: APPROVAL.notice.text,
    MessageAttributes: {
      eventId: { DataType: 'String', StringValue: 'e-1' },
      sagaId: { DataType: 'String', StringValue: 'order-9' },
      kind: { DataType: 'String', StringValue: 'approval_waiting' },
      tool: { DataType: 'String', StringValue: 'issue_refund' },
      amount: { DataType: 'String', StringValue: '19.99' },
      currency: { DataType: 'String', StringValue: 'EUR' },
    },
  });
  expect(messageProblem(String(approval['Message']), String(approval['Subject']))).toBeUndefined();
  const { tool: _t, amount: _a, currency: _c, ...several } = APPROVAL.notice;
  const failure = await argumentsOf(states.Tell, { ...APPROVAL, notice: several });
  expect(Object.keys(failure['MessageAttributes'] as object).sort()).toEqual(['eventId', 'kind', 'sagaId']);
  expect(failure).not.toHaveProperty('MessageGroupId');
  const policy = JSON.stringify(template.findResources('AWS::IAM::Policy'));
  expect(policy).toContain('sns:Publish');
  expect(policy).toContain('kms:GenerateDataKey');
});

test('a topic of fifo drops repeats by itself, and what could not be published is kept', async () => {
  const fifo = await argumentsOf(statesOf({ fifo: true }).states.Tell, APPROVAL);
  expect(fifo).toMatchObject({ MessageGroupId: 'order-9', MessageDeduplicationId: 'e-1' });
  const { states } = statesOf({ kept: true });
  expect(states.Tell.Catch).toMatchObject([{ ErrorEquals: ['States.ALL'], Next: 'Keep' }]);
  const kept = await argumentsOf(states.Keep, APPROVAL);
  expect(JSON.parse(String(kept['MessageBody']))).toEqual(APPROVAL);
});

test('nobody to tell is refused', () => {
  const stack = new Stack(createApp({}), 'Test');
  expect(() => new Notifications(stack, 'People', { bus: new EventBus(stack, 'Bus') })).toThrow(
    'a topic or an api',
  );
});
