import { Lazy, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { TableAction } from '../../contract/function-row.ts';
import type { WalkbackFunction } from './walkback-function.ts';

export interface TablesProps {
  removalPolicy: RemovalPolicy;
  encryptionKey?: IKey;
}

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** Single items, batches, transactions and PartiQL are all authorised as one of these actions. */
const CHANGES = [
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:BatchWriteItem',
  'dynamodb:PartiQLInsert',
  'dynamodb:PartiQLUpdate',
  'dynamodb:PartiQLDelete',
];

const indexArns = (table: Table, names: readonly string[]): string[] =>
  names.map((name) => `${table.tableArn}/index/${name}`);

/** Sessions; heads, pinned plans and catalog of sagas; and the ledger, which nobody may change. */
export class Tables extends Construct {
  readonly sessions: Table;
  readonly sagas: Table;
  readonly ledger: Table;
  readonly ledgerIndexArns: readonly string[];
  readonly #sagaIndexArns: readonly string[];
  readonly #ledgerWriters: string[] = [];

  constructor(scope: Construct, id: string, props: TablesProps) {
    super(scope, id);
    const shared = {
      partitionKey: text('pk'),
      sortKey: text('sk'),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption:
        props.encryptionKey === undefined ? TableEncryption.DEFAULT : TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: props.encryptionKey,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.removalPolicy !== RemovalPolicy.DESTROY,
      // DynamoDB refuses to delete a protected table. So CloudFormation must not try it when a first deployment
      // fails: the stack would end as ROLLBACK_FAILED.
      removalPolicy:
        props.removalPolicy === RemovalPolicy.DESTROY ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    };
    const streamed = {
      ...shared,
      timeToLiveAttribute: 'expiresAt',
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
    };

    this.sessions = new Table(this, 'Sessions', streamed);
    this.sessions.addGlobalSecondaryIndex({
      indexName: 'gsi_checkpoint',
      partitionKey: text('checkpointId'),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.sessions.addGlobalSecondaryIndex({
      indexName: 'gsi_message',
      partitionKey: text('messageId'),
      sortKey: text('sk'),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    this.sessions.addGlobalSecondaryIndex({
      indexName: 'gsi_session',
      // Only sessions have both attributes, and neither ever changes, so a checkpoint writes nothing to this
      // index.
      partitionKey: text('createdAt'),
      sortKey: text('requestHash'),
      projectionType: ProjectionType.KEYS_ONLY,
    });

    this.sessions.addGlobalSecondaryIndex({
      indexName: 'gsi_words',
      partitionKey: text('wordsPart'),
      sortKey: text('updatedAt'),
      projectionType: ProjectionType.ALL,
    });

    this.sagas = new Table(this, 'Sagas', streamed);
    this.sagas.addGlobalSecondaryIndex({
      indexName: 'gsi_status',
      partitionKey: text('status'),
      // Not the time of the last write, so that the index is written only when the status changes.
      sortKey: text('statusSince'),
      // What sweeping and measuring read about every open saga each minute. It changes only together with the
      // status.
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: ['waitUntilMs'],
    });
    this.#sagaIndexArns = indexArns(this.sagas, ['gsi_status']);

    this.ledger = new Table(this, 'Ledger', { ...shared, resourcePolicy: this.#ledgerPolicy() });
    this.ledger.addGlobalSecondaryIndex({
      indexName: 'gsi_external_ref',
      partitionKey: text('external_ref'),
      sortKey: text('at'),
      projectionType: ProjectionType.ALL,
    });
    this.ledger.addGlobalSecondaryIndex({
      indexName: 'gsi_day',
      partitionKey: text('day'),
      sortKey: text('at'),
      projectionType: ProjectionType.ALL,
    });
    this.ledgerIndexArns = indexArns(this.ledger, ['gsi_external_ref', 'gsi_day']);
  }

  /**
   * It also binds the account's administrators, until one of them removes the policy, which CloudTrail shows
   * (S10).
   */
  #ledgerPolicy(): PolicyDocument {
    const everybody = { effect: Effect.DENY, principals: [new AnyPrincipal()], resources: ['*'] };
    const writers = Lazy.list({ produce: () => this.#ledgerWriters });
    return new PolicyDocument({
      statements: [
        new PolicyStatement({ ...everybody, sid: 'NobodyChangesAnEntry', actions: CHANGES }),
        new PolicyStatement({
          ...everybody,
          sid: 'OnlyTheLedgerWritersAppend',
          actions: ['dynamodb:PutItem'],
          conditions: { ArnNotEquals: { 'aws:PrincipalArn': writers } },
        }),
      ],
    });
  }

  bindSessions(fn: WalkbackFunction, actions: readonly TableAction[]): void {
    fn.fn.addEnvironment('WALKBACK_SESSIONS_TABLE', this.sessions.tableName);
    fn.allow(
      actions.map((action) => `dynamodb:${action}`),
      [this.sessions.tableArn],
    );
  }

  /** The index beside the checkpoints, which a scan of the table would have to read. */
  bindSessionIndex(fn: WalkbackFunction): void {
    fn.allow(['dynamodb:Scan'], indexArns(this.sessions, ['gsi_session']));
  }

  /** The index that has the words of all sessions, and no other item. */
  bindWordIndex(fn: WalkbackFunction): void {
    fn.allow(['dynamodb:Query'], indexArns(this.sessions, ['gsi_words']));
  }

  bindSagas(fn: WalkbackFunction, actions: readonly TableAction[]): void {
    this.#nameSagaTables(fn);
    fn.allow(
      actions.map((action) => `dynamodb:${action}`),
      [this.sagas.tableArn],
    );
  }

  /** Gives access to permits, but not to heads, the catalog or tombstones. */
  bindPermits(fn: WalkbackFunction, access: 'read' | 'look' | 'take'): void {
    this.#nameSagaTables(fn);
    const actions = {
      read: ['Query'],
      look: ['Query', 'DeleteItem'],
      take: ['GetItem', 'PutItem', 'Query', 'DeleteItem'],
    }[access];
    fn.allow(
      actions.map((action) => `dynamodb:${action}`),
      [this.sagas.tableArn],
      { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['SEMAPHORE#*', 'SEMAPHORES#*'] } },
    );
  }

  bindLedger(fn: WalkbackFunction, actions: readonly ('GetItem' | 'Query' | 'PutItem')[]): void {
    this.#nameSagaTables(fn);
    if (actions.includes('PutItem')) this.#ledgerWriters.push(fn.role.roleArn);
    fn.allow(
      actions.map((action) => `dynamodb:${action}`),
      [this.ledger.tableArn],
    );
  }

  bindIndexes(fn: WalkbackFunction, tables: readonly ('sagas' | 'ledger' | 'days')[]): void {
    this.#nameSagaTables(fn);
    const days = indexArns(this.ledger, ['gsi_day']);
    const arns = { sagas: this.#sagaIndexArns, ledger: this.ledgerIndexArns, days };
    fn.allow(
      ['dynamodb:Query'],
      tables.flatMap((table) => arns[table]),
    );
  }

  /** Gives access to sign-outs of the console, but not to sessions. */
  bindSignOuts(fn: WalkbackFunction): void {
    this.#bindPartitions(fn, 'SIGNEDOUT#*');
  }

  /** Gives access to the state of calls that may be repeated. It cannot write sessions. */
  bindKeptCalls(fn: WalkbackFunction): void {
    this.#bindPartitions(fn, 'CALL#*');
  }

  #bindPartitions(fn: WalkbackFunction, keys: string): void {
    fn.fn.addEnvironment('WALKBACK_SESSIONS_TABLE', this.sessions.tableName);
    fn.allow(['dynamodb:GetItem', 'dynamodb:PutItem'], [this.sessions.tableArn], {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [keys] },
    });
  }

  /** Lets a tool read and write tombstones, and nothing else of the table (S4). */
  bindTombstones(fn: LambdaFunction): void {
    fn.addEnvironment('WALKBACK_SAGAS_TABLE', this.sagas.tableName);
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        resources: [this.sagas.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TOMBSTONE#*'] } },
      }),
    );
    if (this.sagas.encryptionKey !== undefined) this.sagas.encryptionKey.grantEncryptDecrypt(fn);
  }

  #nameSagaTables(fn: WalkbackFunction): void {
    fn.fn.addEnvironment('WALKBACK_SAGAS_TABLE', this.sagas.tableName);
    fn.fn.addEnvironment('WALKBACK_LEDGER_TABLE', this.ledger.tableName);
  }
}
