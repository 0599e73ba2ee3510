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

/**
 * A reader of an encrypted table decrypts with its own rights: only through the table, only for reading.
 */
const throughDynamoDb = (key: IKey): PolicyStatement =>
  new PolicyStatement({
    actions: ['kms:Decrypt'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } },
  });

/** For a platform team to attach to its own roles: nobody needs more than one of these, and none has what another has not. */
export class AccessPolicies extends Construct {
  /** Reads every ledger entry, itself, with the ledger's commands and with Athena, and nothing else of Walkback. */
  readonly finance: ManagedPolicy;
  /** Calls what an agent's backend calls: never `answer` and never `operate-saga`, so no agent approves itself. */
  readonly agentBackend: ManagedPolicy;
  /** Looks at sessions and sagas, and answers approvals. */
  readonly reviewer: ManagedPolicy;
  /** Works failed compensations, stores the catalog, and looks. */
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
