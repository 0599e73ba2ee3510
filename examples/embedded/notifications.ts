import type { IEventBus } from 'aws-cdk-lib/aws-events';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { Notifications } from '../../cdk/constructs/notifications.ts';

/** In Slack, and to everybody who subscribed to a topic. The bus is `walkback.events.bus`. */
export const tellPeople = (scope: Construct, bus: IEventBus, mail: ITopic): Notifications =>
  new Notifications(scope, 'People', {
    bus,
    topic: mail,
    api: {
      endpoint: 'https://slack.com/api/chat.postMessage',
      authorizationSecretName: 'walkback/slack',
      body: { channel: 'C0123' },
    },
  });
