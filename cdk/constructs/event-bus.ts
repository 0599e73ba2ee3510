import { EventBus } from 'aws-cdk-lib/aws-events';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Construct } from 'constructs';

/** The bus that carries `checkpoint.created`, `rollback.completed` and the rest to whoever subscribes. */
export class WalkbackEventBus extends Construct {
  readonly bus: EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', { description: 'Walkback: what happened to sessions' });
  }

  bindPublish(fn: NodejsFunction): void {
    fn.addEnvironment('WALKBACK_EVENT_BUS', this.bus.eventBusName);
    this.bus.grantPutEventsTo(fn);
  }
}
