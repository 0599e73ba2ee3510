/** The template that tells people: which events, to whom, in which form; and no secret in it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { expect, test } from 'vitest';
import { Notifications } from '../../cdk/constructs/notifications.ts';
import { tellPeople } from '../../examples/embedded/notifications.ts';
import { PROJECT } from '../../local/template.ts';

test('approvals and failed compensations go to a topic as text, and to an API with its secret by name', () => {
  const stack = new Stack(new App(), 'Test');
  tellPeople(stack, new EventBus(stack, 'Bus'), new Topic(stack, 'Mail'));
  const template = Template.fromStack(stack);
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: {
      source: ['walkback'],
      'detail-type': ['saga.awaiting', 'saga.compensation_failed'],
      detail: { notice: { text: [{ exists: true }] } },
    },
    Targets: [
      {
        InputTransformer: {
          InputPathsMap: { 'detail-notice-text': '$.detail.notice.text' },
          InputTemplate: '"<detail-notice-text>"',
        },
      },
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

test('nobody to tell is refused', () => {
  const stack = new Stack(new App(), 'Test');
  expect(() => new Notifications(stack, 'People', { bus: new EventBus(stack, 'Bus') })).toThrow(
    'a topic or an api',
  );
});
