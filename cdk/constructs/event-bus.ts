import type { Duration } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { CfnRegistry, CfnSchema } from 'aws-cdk-lib/aws-eventschemas';
import { Construct } from 'constructs';
import { EVENT_DETAILS, eventSchema } from '../event-schemas.ts';
import type { WalkbackFunction } from './walkback-function.ts';

/** The bus that carries `checkpoint.created`, `saga.completed` and the rest to whoever subscribes, with their schemas, and
 * an archive to replay from. */
export class WalkbackEventBus extends Construct {
  readonly bus: EventBus;

  constructor(scope: Construct, id: string, props: { archiveRetention: Duration }) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', { description: 'Walkback: what happened to sessions and sagas' });
    this.bus.archive('Archive', {
      description: 'Walkback events, to replay to a subscriber that missed them',
      eventPattern: { source: ['walkback'] },
      retention: props.archiveRetention,
    });
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

  bindPublish(fn: WalkbackFunction): void {
    fn.fn.addEnvironment('WALKBACK_EVENT_BUS', this.bus.eventBusName);
    fn.allow(['events:PutEvents'], [this.bus.eventBusArn]);
  }
}
