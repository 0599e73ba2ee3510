import { Aws } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import type { Caller } from '../../contract/function-row.ts';
import type { DeployedRow } from '../functions.ts';
import type { LedgerExport } from './ledger-export.ts';
import type { Tables } from './tables.ts';
import type { WalkbackFunction } from './walkback-function.ts';

export interface AccessPoliciesProps {
  namePrefix: string;
  tables: Tables;
  ledgerExport: LedgerExport;
  functions: readonly { row: DeployedRow; fn: WalkbackFunction }[];
  encryptionKey?: IKey;
}

/** A reader of an encrypted table decrypts with its own rights: only through the table, and only for reading. */
const throughDynamoDb = (key: IKey): PolicyStatement =>
  new PolicyStatement({
    actions: ['kms:Decrypt'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } },
  });

/**
 * Policies that a platform team attaches to its own roles. Nobody needs more than one of them, and each has
 * rights that no other has.
 */
export class AccessPolicies extends Construct {
  /**
   * Reads every ledger entry: directly, with the ledger's commands and with Athena. It reads nothing else of
   * Walkback.
   */
  readonly finance: ManagedPolicy;
  /**
   * Calls what an agent's backend calls. Never `answer` or `operate-saga`, so no agent can approve its own
   * work.
   */
  readonly agentBackend: ManagedPolicy;
  /** Looks at sessions and sagas, and answers approvals. */
  readonly reviewer: ManagedPolicy;
  /** Works on failed compensations, stores catalog entries, and looks at everything that a reviewer sees. */
  readonly operator: ManagedPolicy;

  constructor(scope: Construct, id: string, props: AccessPoliciesProps) {
    super(scope, id);
    const { tables } = props;
    const invoking = (caller: Caller): PolicyStatement =>
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: props.functions
          .filter(({ row }) => row.callers.includes(caller))
          .map(({ fn }) => fn.fn.functionArn),
      });
    const invoke = (caller: Caller, policyId: string, description: string) =>
      new ManagedPolicy(this, policyId, { description, statements: [invoking(caller)] });
    this.finance = new ManagedPolicy(this, 'Finance', {
      description: 'Reads the Walkback ledger',
      statements: [
        new PolicyStatement({
          actions: [
            'dynamodb:GetItem',
            'dynamodb:BatchGetItem',
            'dynamodb:Query',
            'dynamodb:Scan',
            'dynamodb:DescribeTable',
          ],
          resources: [tables.ledger.tableArn, ...tables.ledgerIndexArns],
        }),
        invoking('finance'),
        ...(props.encryptionKey === undefined ? [] : [throughDynamoDb(props.encryptionKey)]),
        ...props.ledgerExport.queryStatements(),
      ],
    });
    NagSuppressions.addResourceSuppressions(this.finance, [
      {
        id: 'AwsSolutions-IAM5',
        reason:
          'Objects of the export are named by day and saga, results of queries by Athena; the prefixes are all there is.',
        appliesTo: [{ regex: '/^Resource::<.*Bucket.*\\.Arn>\\/(effects|reconciliations|results)\\/\\*$/' }],
      },
    ]);
    this.agentBackend = invoke('agent-backend', 'AgentBackend', 'Calls Walkback for agents');
    this.reviewer = invoke('reviewer', 'Reviewer', 'Reviews Walkback sessions and answers approvals');
    this.operator = invoke('operator', 'Operator', 'Operates Walkback sagas and their catalog');
  }
}
