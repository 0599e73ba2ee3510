/**
 * The construct that a platform team puts into a stack of its own. The embedded cloud is provisioned from its
 * template too.
 */
import { Annotations, CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type ISecurityGroup, type IVpc, SecurityGroup, type SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import { AccessPolicies } from './constructs/access-policies.ts';
import { createAlertTopic } from './constructs/alert-topic.ts';
import { BundleBucket } from './constructs/bundle-bucket.ts';
import { letServicesUse } from './constructs/encryption-key.ts';
import { WalkbackEventBus } from './constructs/event-bus.ts';
import { bindIdentity, type IdentityProps, warnOfClaims } from './constructs/identity.ts';
import { LedgerAnchors } from './constructs/ledger-anchors.ts';
import { LedgerExport } from './constructs/ledger-export.ts';
import { Monitoring } from './constructs/monitoring.ts';
import { checkNamePrefix, checkToolFunction } from './constructs/names.ts';
import { type HttpApiProps, PeopleApi } from './constructs/people-api.ts';
import { anyVersionOfOneFunction, bindEngine, SagaMachine } from './constructs/saga-machine.ts';
import { bindSecret } from './constructs/secrets.ts';
import { bindStream, DeadLetterQueue } from './constructs/stream-consumer.ts';
import { Tables } from './constructs/tables.ts';
import { arnOf, type FunctionDefaults, WalkbackFunction } from './constructs/walkback-function.ts';
import { type DeployedRow, FUNCTIONS } from './functions.ts';

export interface WalkbackProps {
  /**
   * Prefix of the names of functions, machine, bus and alarms. Default `walkback`; use another one for a
   * second deployment in the account and region. Never change it while sagas are in flight: functions and
   * machine would be replaced.
   */
  namePrefix?: string;
  /**
   * Holds the E2B API key as plain text. The operator makes it; its value never enters a template. A secret
   * under a key of its own must be given with that key (`Secret.fromSecretAttributes`), so that functions may
   * use the key to read it.
   */
  e2bApiKeySecret: ISecret;
  /** The secret that signs calls of HTTP tools. The operator makes it. */
  httpToolSecret: ISecret;
  /**
   * Encrypts everything at rest: tables, bucket, queues, logs, variables, events, executions, and the topic
   * made here. An imported key needs the policy in docs/operations.md. Default: keys that AWS owns.
   */
  encryptionKey?: IKey;
  /** The VPC in which functions run. It needs a way to E2B (NAT) and to the AWS services. Default: no VPC. */
  vpc?: IVpc;
  vpcSubnets?: SubnetSelection;
  /** Security groups of all functions. Default: one that lets everything out and nothing in. */
  securityGroups?: ISecurityGroup[];
  /** Told of every alarm and every failed compensation. Default: a topic of its own. */
  alarmTopic?: ITopic;
  /**
   * Alarms that mean that people must act also open an OpsItem in Systems Manager, because the topic may be
   * what is broken. Default: true.
   */
  opsItems?: boolean;
  /** Address of docs/operations.md, because alarms link to its runbooks. Without it, synthesis warns. */
  runbookUrl?: string;
  /**
   * An alarm fires when a saga is neither finished nor waiting for a person for this long. Default: two
   * hours, twice the longest pause.
   */
  unfinishedSagaAlarm?: Duration;
  /** Reserved concurrency by function, without prefix. Default: none is reserved. */
  reservedConcurrency?: Readonly<Record<string, number>>;
  /** How long logs are kept. Default: one month. */
  logRetention?: RetentionDays;
  /** How long deleted bundles can be restored. Default: 30 days. */
  supersededObjectRetention?: Duration;
  /** How long nobody may delete a digest of the ledger. Default: 400 days. */
  anchorRetention?: Duration;
  /**
   * How long lines of the ledger's export are kept after they were last written. Default: for ever, like the
   * ledger.
   */
  ledgerExportRetention?: Duration;
  /** How long events can be replayed. Default: 30 days. */
  eventArchiveRetention?: Duration;
  /**
   * For tables, buckets, key and logs. Any value except DESTROY also protects tables from deletion. Default:
   * RETAIN_ON_UPDATE_OR_DELETE, so a first deployment that fails leaves only the protected tables behind.
   */
  removalPolicy?: RemovalPolicy;
  /** X-Ray tracing. Default: on. */
  tracing?: boolean;
  /** Receives the bucket's access logs. Default: none. */
  accessLogsBucket?: IBucket;
  /** Names of tools deployed elsewhere that sagas may call. For tools of the same app, use `addTool`. */
  toolFunctions?: readonly string[];
  /**
   * Where people sign in. Without it, synthesis warns: anybody who may call a function may then claim to be
   * anybody.
   */
  identity?: IdentityProps;
  /** Options of the HTTP API and the console, which exist when `identity` is given. */
  httpApi?: HttpApiProps;
  /**
   * Refuses approvals, repairs and rewinds without a proof of who asks. Default: true when `identity` is
   * given.
   */
  requireVerifiedApprover?: boolean;
  /** Address of the console, for links in notices. Default: none; the text names the command instead. */
  consoleUrl?: string;
  /** Also deploys the tools of the examples. */
  examples?: boolean;
}

const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const checkReserved = (reserved: Readonly<Record<string, number>>): void => {
  const known = new Set(FUNCTIONS.map(({ name }) => name));
  const unknown = Object.keys(reserved).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`reservedConcurrency: there is no function ${unknown.join(', ')}`);
};

/** Lets a function see how a tool's function is configured, including a pinned version or alias of it. */
const bindLook = (fn: WalkbackFunction, functionArn: string): void => {
  fn.allow(['lambda:GetFunctionConfiguration'], [functionArn, `${functionArn}:*`]);
  NagSuppressions.addResourceSuppressions(fn.role, [anyVersionOfOneFunction], true);
};

/** Lets a function call a tool, including a pinned version or alias of it. */
const bindCall = (fn: WalkbackFunction, functionArn: string): void => {
  fn.allow(['lambda:InvokeFunction'], [functionArn, `${functionArn}:*`]);
  NagSuppressions.addResourceSuppressions(fn.role, [anyVersionOfOneFunction], true);
};

export class Walkback extends Construct {
  readonly tables: Tables;
  readonly bundles: BundleBucket;
  readonly anchors: LedgerAnchors;
  readonly ledgerExport: LedgerExport;
  readonly events: WalkbackEventBus;
  readonly alarmTopic: ITopic;
  readonly sagaMachine: SagaMachine;
  /** Policies to attach to roles of people and backends. */
  readonly policies: AccessPolicies;
  readonly monitoring: Monitoring;
  /** Undefined without `identity`. */
  readonly peopleApi: PeopleApi | undefined;
  readonly #props: WalkbackProps;
  readonly #namePrefix: string;
  readonly #securityGroups: ISecurityGroup[] | undefined;
  readonly #catalogKeepers: readonly WalkbackFunction[];
  /** Functions that call tools, as the machine does. */
  readonly #toolCallers: readonly WalkbackFunction[];

  constructor(scope: Construct, id: string, props: WalkbackProps) {
    super(scope, id);
    this.#props = props;
    this.#namePrefix = props.namePrefix ?? 'walkback';
    checkNamePrefix(this.#namePrefix);
    props.toolFunctions?.forEach(checkToolFunction);
    checkReserved(props.reservedConcurrency ?? {});
    const { encryptionKey, accessLogsBucket, vpc } = props;
    // By default each function would make a group, and Lambda a network interface for each of them in each
    // subnet.
    this.#securityGroups =
      props.securityGroups ??
      (vpc && [new SecurityGroup(this, 'Network', { vpc, description: 'Functions of Walkback' })]);
    const { removalPolicy } = this.#functionDefaults();
    this.tables = new Tables(this, 'Tables', { removalPolicy, encryptionKey });
    this.bundles = new BundleBucket(this, 'Bundles', {
      removalPolicy,
      encryptionKey,
      accessLogsBucket,
      supersededObjectRetention: props.supersededObjectRetention ?? Duration.days(30),
    });
    this.anchors = new LedgerAnchors(this, 'Anchors', {
      removalPolicy,
      encryptionKey,
      accessLogsBucket,
      retention: props.anchorRetention ?? Duration.days(400),
    });
    this.ledgerExport = new LedgerExport(this, 'LedgerExport', {
      namePrefix: this.#namePrefix,
      removalPolicy,
      encryptionKey,
      accessLogsBucket,
      retention: props.ledgerExportRetention,
    });
    // With the same key, it would refuse exactly the events that it is for.
    const unencrypted = encryptionKey && new DeadLetterQueue(this, 'EventDeadLetters', {});
    this.events = new WalkbackEventBus(this, 'Events', {
      name: this.#namePrefix,
      archiveRetention: props.eventArchiveRetention ?? Duration.days(30),
      encryptionKey,
      deadLetters: unencrypted,
    });
    this.alarmTopic = props.alarmTopic ?? createAlertTopic(this, encryptionKey);
    if (encryptionKey !== undefined) letServicesUse(encryptionKey);

    const rows = FUNCTIONS.filter(
      ({ tool, grants }) =>
        (tool !== true || props.examples === true) &&
        (grants.servesPeople !== true || props.identity !== undefined),
    );
    const functions = rows.map((row) => ({ row, fn: this.#addFunction(row) }));
    const named = (name: string): WalkbackFunction => {
      const found = functions.find(({ row }) => row.name === name);
      if (found === undefined) throw new Error(`there is no function ${name}`);
      return found.fn;
    };
    const deadLetters = {
      SessionEvents: this.#addStream(functions, 'sessions'),
      SagaEvents: this.#addStream(functions, 'sagas'),
      Sweeper: new DeadLetterQueue(this, 'SweeperDeadLetters', { encryptionKey }),
      ...(unencrypted && { Events: unencrypted }),
    };
    this.sagaMachine = new SagaMachine(this, 'Saga', {
      ...this.#functionDefaults(),
      advance: named('advance-saga'),
      announceAwait: named('announce-await'),
      sweep: named('sweep'),
      measure: named('measure-sagas'),
      alerts: this.alarmTopic,
      deadLetters: deadLetters.Sweeper,
    });
    this.anchors.writeByClock(named('anchor-ledger'), deadLetters.Sweeper);
    this.#catalogKeepers = functions.filter(({ row }) => row.grants.looksAtTools).map(({ fn }) => fn);
    this.#toolCallers = functions.filter(({ row }) => row.grants.callsTools).map(({ fn }) => fn);
    for (const { row, fn } of functions) {
      if (row.tool === true || row.grants.servesTools === true) this.addTool(fn.fn);
      // Nobody checks this function's timeout: it serves every deadline.
      if (row.grants.httpTool === true) {
        this.#letCall(fn.fn.functionArn);
        this.tables.bindTombstones(fn.fn);
      }
    }
    for (const name of props.toolFunctions ?? []) this.#nameTool(arnOf('lambda', `function:${name}`));
    for (const { fn } of [named('advance-saga'), ...this.#toolCallers]) {
      fn.addEnvironment('WALKBACK_HTTP_TOOL_FUNCTION', `${this.#namePrefix}-http-tool`);
    }
    this.policies = new AccessPolicies(this, 'Access', {
      namePrefix: this.#namePrefix,
      tables: this.tables,
      ledgerExport: this.ledgerExport,
      functions,
      encryptionKey,
    });
    if (props.runbookUrl === undefined) {
      Annotations.of(this).addWarningV2(
        'walkback:runbookUrl',
        'Alarms name docs/operations.md, which is no link for who is woken by one. Set runbookUrl to where your operators read it.',
      );
    }
    warnOfClaims(this, props);
    this.peopleApi =
      props.identity &&
      new PeopleApi(this, 'PeopleApi', {
        ...props.httpApi,
        ...this.#functionDefaults(),
        identity: props.identity,
        functions,
      });
    this.monitoring = new Monitoring(this, 'Monitoring', {
      namePrefix: this.#namePrefix,
      machine: this.sagaMachine.machine,
      functions: functions.map(({ fn }) => fn),
      anchor: named('anchor-ledger'),
      deadLetters,
      httpApi: this.peopleApi?.api,
      topic: this.alarmTopic,
      opsItems: props.opsItems ?? true,
      runbookUrl: props.runbookUrl ?? 'docs/operations.md',
      unfinishedSagaAlarm: props.unfinishedSagaAlarm ?? Duration.hours(2),
    });
    this.#addOutputs();
  }

  /** Lets sagas call `fn`, and gives it the tombstones that a tool needs, and nothing else of the table (S4). */
  addTool(fn: LambdaFunction): void {
    this.#nameTool(fn.functionArn);
    this.tables.bindTombstones(fn);
  }

  /** Lets sagas call it, and the catalog be checked against it. */
  #nameTool(functionArn: string): void {
    this.#letCall(functionArn);
    for (const fn of this.#catalogKeepers) bindLook(fn, functionArn);
  }

  /** Lets the machine, and the functions that call tools in its place, call it. */
  #letCall(functionArn: string): void {
    this.sagaMachine.bindTool(functionArn);
    for (const fn of this.#toolCallers) bindCall(fn, functionArn);
  }

  #functionDefaults(): FunctionDefaults {
    const { encryptionKey, vpc, vpcSubnets } = this.#props;
    return {
      namePrefix: this.#namePrefix,
      logRetention: this.#props.logRetention ?? RetentionDays.ONE_MONTH,
      removalPolicy: this.#props.removalPolicy ?? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      tracing: this.#props.tracing ?? true,
      encryptionKey,
      vpc,
      vpcSubnets,
      securityGroups: this.#securityGroups,
    };
  }

  #addFunction(row: DeployedRow): WalkbackFunction {
    const fn = new WalkbackFunction(this, pascalCase(row.name), {
      ...this.#functionDefaults(),
      name: row.name,
      description: row.description,
      timeoutSeconds: row.timeoutSeconds,
      entry: row.entry,
      reservedConcurrency: this.#props.reservedConcurrency?.[row.name],
    });
    const { grants } = row;
    if (grants.sessions !== undefined) this.tables.bindSessions(fn, grants.sessions);
    if (grants.keepsCalls) this.tables.bindKeptCalls(fn);
    if (grants.listsSessions) this.tables.bindSessionIndex(fn);
    if (grants.searchesWords) this.tables.bindWordIndex(fn);
    if (grants.sagas !== undefined) this.tables.bindSagas(fn, grants.sagas);
    if (grants.permits !== undefined) this.tables.bindPermits(fn, grants.permits);
    if (grants.ledger !== undefined) this.tables.bindLedger(fn, grants.ledger);
    if (grants.indexes !== undefined) this.tables.bindIndexes(fn, grants.indexes);
    if (grants.bucket === 'restore') this.bundles.bindRestore(fn);
    if (grants.bucket === 'capture') this.bundles.bindCapture(fn);
    if (grants.bucket === 'delete') this.bundles.bindDelete(fn);
    if (grants.anchors === 'read') this.anchors.bindRead(fn);
    if (grants.anchors === 'write') this.anchors.bindWrite(fn);
    if (grants.exportsLedger) this.ledgerExport.bindWrite(fn);
    if (grants.publishesEvents) this.events.bindPublish(fn);
    if (grants.linksToConsole && this.#props.consoleUrl !== undefined) {
      fn.fn.addEnvironment('WALKBACK_CONSOLE_URL', this.#props.consoleUrl);
    }
    if (grants.engine !== undefined) bindEngine(fn, this.#namePrefix, grants.engine);
    if (grants.sandbox) bindSecret(fn, 'E2B_API_KEY_SECRET_ARN', this.#props.e2bApiKeySecret);
    if (grants.identifiesPeople) bindIdentity(fn, this.#props);
    if (grants.signsPeopleIn) this.tables.bindSignOuts(fn);
    if (grants.httpTool) bindSecret(fn, 'WALKBACK_HTTP_TOOL_SECRET_ARN', this.#props.httpToolSecret);
    return fn;
  }

  #addStream(
    functions: readonly { row: DeployedRow; fn: WalkbackFunction }[],
    table: 'sessions' | 'sagas',
  ): DeadLetterQueue {
    const deadLetters = new DeadLetterQueue(this, `${pascalCase(table)}DeadLetters`, {
      encryptionKey: this.#props.encryptionKey,
    });
    for (const { row, fn } of functions) {
      const { stream, gathers } = row.grants;
      if (stream === table) bindStream(this.tables[table], fn, deadLetters, gathers);
    }
    return deadLetters;
  }

  #addOutputs(): void {
    const outputs = {
      SessionsTable: this.tables.sessions.tableName,
      SagasTable: this.tables.sagas.tableName,
      LedgerTable: this.tables.ledger.tableName,
      BundleBucket: this.bundles.bucket.bucketName,
      AnchorBucket: this.anchors.bucket.bucketName,
      LedgerExportBucket: this.ledgerExport.bucket.bucketName,
      LedgerDatabase: this.ledgerExport.databaseName,
      LedgerWorkGroup: this.ledgerExport.workGroupName,
      AnchorKey: this.anchors.key.keyArn,
      EventBus: this.events.bus.eventBusName,
      StateMachine: this.sagaMachine.machine.stateMachineArn,
      StateMachineRole: this.sagaMachine.machine.role.roleArn,
      AlarmTopic: this.alarmTopic.topicArn,
      FinancePolicy: this.policies.finance.managedPolicyArn,
      AgentBackendPolicy: this.policies.agentBackend.managedPolicyArn,
      ReviewerPolicy: this.policies.reviewer.managedPolicyArn,
      OperatorPolicy: this.policies.operator.managedPolicyArn,
      ...(this.peopleApi && { ApiUrl: this.peopleApi.url }),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, `${name}Output`, { value });
  }
}
