import { CfnResource, type Duration } from 'aws-cdk-lib';
import { type Archive, EventBus } from 'aws-cdk-lib/aws-events';
import { CfnRegistry, CfnSchema } from 'aws-cdk-lib/aws-eventschemas';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { EVENT_DETAILS } from '../../contract/events.ts';
import { eventSchema } from '../event-schemas.ts';
import type { DeadLetterQueue } from './stream-consumer.ts';
import { arnOf, type WalkbackFunction } from './walkback-function.ts';

export interface WalkbackEventBusProps {
  /**
   * Name of the bus. A name that the CDK derives from the construct's path would be the same in every
   * deployment.
   */
  name: string;
  archiveRetention: Duration;
  encryptionKey?: IKey;
  /** Receives events that the bus could not encrypt or decrypt, so it is not encrypted with the same key. */
  deadLetters?: DeadLetterQueue;
}

/**
 * The bus that carries `checkpoint.created`, `saga.completed` and the other events to all subscribers, with
 * their schemas, and an archive to replay from.
 */
export class WalkbackEventBus extends Construct {
  readonly bus: EventBus;
  readonly #name: string;

  constructor(scope: Construct, id: string, props: WalkbackEventBusProps) {
    super(scope, id);
    const { encryptionKey, deadLetters } = props;
    this.#name = props.name;
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: props.name,
      description: 'Walkback: what happened to sessions and sagas',
      kmsKey: encryptionKey,
      deadLetterQueue: deadLetters?.queue,
    });
    const archive = this.bus.archive('Archive', {
      description: 'Walkback events, to replay to a subscriber that missed them',
      eventPattern: { source: ['walkback'] },
      retention: props.archiveRetention,
    });
    if (encryptionKey !== undefined) this.#encryptArchive(archive, encryptionKey);
    if (deadLetters !== undefined) this.#letLeave(deadLetters);
    const registry = new CfnRegistry(this, 'Registry', { description: 'Events of Walkback' });
    for (const [name, detail] of Object.entries(EVENT_DETAILS)) {
      new CfnSchema(this, `Schema-${name}`, {
        registryName: registry.attrRegistryName,
        schemaName: `walkback@${name}`,
        type: 'JSONSchemaDraft4',
        content: eventSchema(name, detail),
      });
    }
  }

  /**
   * Not set by the archive's own property: the key's policy would then depend on the bus, which depends on
   * the key.
   */
  #encryptArchive(archive: Archive, key: IKey): void {
    if (archive.node.defaultChild instanceof CfnResource) {
      archive.node.defaultChild.addPropertyOverride('KmsKeyIdentifier', key.keyArn);
    }
    key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'ArchiveOfEvents',
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey', 'kms:ReEncrypt*'],
        resources: ['*'],
        conditions: {
          StringEquals: {
            'kms:EncryptionContext:aws:events:event-bus:arn': this.#arn(),
          },
        },
      }),
    );
  }

  /** The ARN made from the name, for policies of resources that the bus itself refers to. */
  #arn(): string {
    return arnOf('events', `event-bus/${this.#name}`);
  }

  #letLeave({ queue }: DeadLetterQueue): void {
    queue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': this.#arn() } },
      }),
    );
  }

  bindPublish(fn: WalkbackFunction): void {
    fn.fn.addEnvironment('WALKBACK_EVENT_BUS', this.bus.eventBusName);
    fn.allow(['events:PutEvents'], [this.bus.eventBusArn]);
  }
}
