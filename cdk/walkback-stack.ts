import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { BundleBucket } from './constructs/bundle-bucket.ts';
import { E2bApiKey } from './constructs/e2b-api-key.ts';
import { WalkbackEventBus } from './constructs/event-bus.ts';
import { HttpToolSecret } from './constructs/http-tool-secret.ts';
import { bindEngine, SagaMachine } from './constructs/saga-machine.ts';
import { SagaTables } from './constructs/saga-tables.ts';
import { SessionsTable } from './constructs/sessions-table.ts';
import { WalkbackFunction } from './constructs/walkback-function.ts';
import { FUNCTIONS, type FunctionRow } from './functions.ts';
import type { Settings } from './settings.ts';

interface WalkbackStackProps extends StackProps {
  settings: Settings;
}

const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Everything checkpoints and sagas need. The embedded cloud is provisioned from this stack's template too. */
export class WalkbackStack extends Stack {
  readonly #sessions: SessionsTable;
  readonly #bundles: BundleBucket;
  readonly #events: WalkbackEventBus;
  readonly #e2bApiKey: E2bApiKey;
  readonly #httpToolSecret: HttpToolSecret;
  readonly #deadLetters: Queue;
  readonly #sagas: SagaTables;

  constructor(scope: Construct, id: string, props: WalkbackStackProps) {
    super(scope, id, { description: 'Walkback: the undo layer for AI agents', ...props });
    const { deletionProtection, e2bApiKeySecretName, httpToolSecretName } = props.settings;
    this.#sessions = new SessionsTable(this, 'Sessions', { deletionProtection });
    this.#bundles = new BundleBucket(this, 'Bundles', { deletionProtection });
    this.#events = new WalkbackEventBus(this, 'Events');
    this.#e2bApiKey = new E2bApiKey(this, 'E2bApiKey', { secretName: e2bApiKeySecretName });
    this.#httpToolSecret = new HttpToolSecret(this, 'HttpToolSecret', { secretName: httpToolSecretName });
    this.#deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.#sagas = new SagaTables(this, 'SagaTables', { deletionProtection });
    const rows = FUNCTIONS.filter((row) => row.example !== true || props.settings.examples);
    const functions = new Map(rows.map((row) => [row.name, this.#addFunction(row)]));
    const named = (name: string): WalkbackFunction => {
      const fn = functions.get(name);
      if (fn === undefined) throw new Error(`there is no function ${name}`);
      return fn;
    };
    const { machine, alerts } = new SagaMachine(this, 'Saga', {
      advance: named('advance-saga'),
      announceAwait: named('announce-await'),
      sweep: named('sweep'),
      httpTool: named('http-tool'),
    });

    this.#addOutput('SessionsTable', this.#sessions.table.tableName);
    this.#addOutput('BundleBucket', this.#bundles.bucket.bucketName);
    this.#addOutput('EventBus', this.#events.bus.eventBusName);
    this.#addOutput('SagasTable', this.#sagas.sagas.tableName);
    this.#addOutput('LedgerTable', this.#sagas.ledger.tableName);
    this.#addOutput('StateMachine', machine.stateMachineArn);
    this.#addOutput('Alerts', alerts.topicArn);
  }

  #addOutput(id: string, value: string): CfnOutput {
    return new CfnOutput(this, id, { value });
  }

  #addFunction(row: FunctionRow): WalkbackFunction {
    const fn = new WalkbackFunction(this, pascalCase(row.name), row);
    if (row.table === 'read') this.#sessions.bindRead(fn);
    if (row.table === 'list') this.#sessions.bindList(fn);
    if (row.table === 'write') this.#sessions.bindWrite(fn);
    if (row.bucket === 'write') this.#bundles.bindWrite(fn);
    if (row.bucket === 'delete') this.#bundles.bindDelete(fn);
    if (row.sandbox) this.#e2bApiKey.bindRead(fn);
    if (row.publishesEvents) this.#events.bindPublish(fn);
    if (row.consumesStream) this.#sessions.bindStream(fn, this.#deadLetters);
    if (row.sagas === 'read') this.#sagas.bindRead(fn);
    if (row.sagas === 'write') this.#sagas.bindWrite(fn);
    if (row.sagas === 'tombstones') this.#sagas.bindTombstones(fn);
    if (row.httpToolSecret) this.#httpToolSecret.bindRead(fn);
    if (row.engine) bindEngine(this, fn);
    if (row.consumesSagaStream) this.#sagas.bindStream(fn, this.#deadLetters);
    return fn;
  }
}
