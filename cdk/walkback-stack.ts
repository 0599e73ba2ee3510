import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { BundleBucket } from './constructs/bundle-bucket.ts';
import { E2bApiKey } from './constructs/e2b-api-key.ts';
import { WalkbackEventBus } from './constructs/event-bus.ts';
import { SessionsTable } from './constructs/sessions-table.ts';
import { WalkbackFunction } from './constructs/walkback-function.ts';
import { FUNCTIONS, type FunctionRow } from './functions.ts';
import type { Settings } from './settings.ts';

interface WalkbackStackProps extends StackProps {
  settings: Settings;
}

const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Everything checkpoints need. The embedded cloud is provisioned from this stack's template too. */
export class WalkbackStack extends Stack {
  readonly #sessions: SessionsTable;
  readonly #bundles: BundleBucket;
  readonly #events: WalkbackEventBus;
  readonly #e2bApiKey: E2bApiKey;
  readonly #deadLetters: Queue;

  constructor(scope: Construct, id: string, props: WalkbackStackProps) {
    super(scope, id, { description: 'Walkback: the undo layer for AI agents', ...props });
    const { deletionProtection, e2bApiKeySecretName } = props.settings;
    this.#sessions = new SessionsTable(this, 'Sessions', { deletionProtection });
    this.#bundles = new BundleBucket(this, 'Bundles', { deletionProtection });
    this.#events = new WalkbackEventBus(this, 'Events');
    this.#e2bApiKey = new E2bApiKey(this, 'E2bApiKey', { secretName: e2bApiKeySecretName });
    this.#deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    for (const row of FUNCTIONS) this.#addFunction(row);

    this.#addOutput('SessionsTable', this.#sessions.table.tableName);
    this.#addOutput('BundleBucket', this.#bundles.bucket.bucketName);
    this.#addOutput('EventBus', this.#events.bus.eventBusName);
  }

  #addOutput(id: string, value: string): CfnOutput {
    return new CfnOutput(this, id, { value });
  }

  #addFunction(row: FunctionRow): void {
    const fn = new WalkbackFunction(this, pascalCase(row.name), row);
    if (row.table === 'read') this.#sessions.bindRead(fn);
    if (row.table === 'list') this.#sessions.bindList(fn);
    if (row.table === 'write') this.#sessions.bindWrite(fn);
    if (row.bucket === 'write') this.#bundles.bindWrite(fn);
    if (row.bucket === 'delete') this.#bundles.bindDelete(fn);
    if (row.sandbox) this.#e2bApiKey.bindRead(fn);
    if (row.publishesEvents) this.#events.bindPublish(fn);
    if (row.consumesStream) this.#sessions.bindStream(fn, this.#deadLetters);
  }
}
