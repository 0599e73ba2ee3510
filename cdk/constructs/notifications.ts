import { SecretValue } from 'aws-cdk-lib';
import {
  ApiDestination,
  Authorization,
  Connection,
  EventField,
  type IEventBus,
  Rule,
  RuleTargetInput,
} from 'aws-cdk-lib/aws-events';
import { ApiDestination as ApiDestinationTarget, SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  NOTICE_EVENTS,
  NOTICE_ID,
  NOTICE_ID_MEMBER,
  NOTICE_SOURCE,
  NOTICE_TEXT,
} from '../../contract/notices.ts';
import { NoticeTopic } from './notice-topic.ts';

export interface ApiTarget {
  /** An https address that accepts a POST, for example `https://slack.com/api/chat.postMessage`. */
  endpoint: string;
  /**
   * Name of a secret that the operator makes. Its plain text is the whole value of the header
   * `Authorization`, for example `Bearer xoxb-...`. It never enters the template.
   */
  authorizationSecretName: string;
  /** Fields of the body beside `text`, for example `{ channel: 'C0123' }`. */
  body?: Readonly<Record<string, string>>;
}

export interface NotificationsProps {
  /** The bus: `walkback.events.bus`. */
  bus: IEventBus;
  /**
   * Gets the text, for mail, with a subject, and with the attributes `kind`, `sagaId`, `tool`, `amount`,
   * `currency` and `eventId`. The key of an imported encrypted topic must let the role of the machine use it
   * (`kms:Decrypt`, `kms:GenerateDataKey`).
   */
  topic?: ITopic;
  /** Gets the text as JSON: Slack, a gateway for mail, a pager. */
  api?: ApiTarget;
  /** Gets what could not be delivered within a day. */
  deadLetterQueue?: IQueue;
}

const TEXT = EventField.fromPath(NOTICE_TEXT);
const ID = EventField.fromPath(NOTICE_ID);

/**
 * Tells people of waiting approvals and failed compensations: each event with a notice is sent once, as plain
 * text with amount, references and a link (contract/events.ts).
 */
export class Notifications extends Construct {
  readonly rule: Rule;

  constructor(scope: Construct, id: string, props: NotificationsProps) {
    super(scope, id);
    const { bus, topic, api, deadLetterQueue } = props;
    if (topic === undefined && api === undefined) throw new Error('Notifications needs a topic or an api');
    this.rule = new Rule(this, 'Rule', {
      eventBus: bus,
      description: 'Walkback: people are needed',
      eventPattern: {
        source: [NOTICE_SOURCE],
        detailType: [...NOTICE_EVENTS],
        // An interactive saga that waits for a step does not wait for a person.
        detail: { notice: { text: [{ exists: true }] } },
      },
    });
    if (topic !== undefined) {
      const { machine } = new NoticeTopic(this, 'Topic', { topic, deadLetterQueue });
      const input = RuleTargetInput.fromEventPath('$.detail');
      this.rule.addTarget(new SfnStateMachine(machine, { input, deadLetterQueue }));
    }
    if (api !== undefined) this.#addApi(api, deadLetterQueue);
  }

  #addApi(
    { endpoint, authorizationSecretName, body = {} }: ApiTarget,
    deadLetterQueue: IQueue | undefined,
  ): void {
    const connection = new Connection(this, 'Connection', {
      description: 'Walkback: where people are told',
      authorization: Authorization.apiKey(
        'Authorization',
        SecretValue.secretsManager(authorizationSecretName),
      ),
    });
    const destination = new ApiDestination(this, 'Destination', {
      connection,
      endpoint,
      rateLimitPerSecond: 5,
    });
    this.rule.addTarget(
      new ApiDestinationTarget(destination, {
        event: RuleTargetInput.fromObject({ ...body, text: TEXT, [NOTICE_ID_MEMBER]: ID }),
        deadLetterQueue,
      }),
    );
  }
}
