import { Aws, Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket, IBucket, LifecycleRule } from 'aws-cdk-lib/aws-s3';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';
import { EXPORT_PARTITION, EXPORT_TABLES, type ExportTable } from '../../contract/ledger-export.ts';
import { LEDGER_QUERIES } from './ledger-queries.ts';
import { createPrivateBucket } from './private-bucket.ts';
import { arnOf, type WalkbackFunction } from './walkback-function.ts';

export interface LedgerExportProps {
  namePrefix: string;
  removalPolicy: RemovalPolicy;
  /** How long lines are kept after they were last written. Default: for ever. */
  retention?: Duration;
  encryptionKey?: IKey;
  accessLogsBucket?: IBucket;
}

const RESULTS = 'results/';
const RESULTS_DAYS = 30;
/** No saga is older. A query that names no days lists every day from this one on. */
const FIRST_DAY = '2025-01-01';
const TABLES = Object.keys(EXPORT_TABLES).filter((name): name is ExportTable => name in EXPORT_TABLES);

/**
 * The ledger for SQL queries: a bucket of committed effects with their undo, one object for each saga and
 * day, and tables over it for Athena. New days need no crawler and no command, because partitions are
 * projected.
 */
export class LedgerExport extends Construct {
  readonly bucket: Bucket;
  readonly databaseName: string;
  readonly workGroupName: string;
  readonly #encryptionKey: IKey | undefined;

  constructor(scope: Construct, id: string, props: LedgerExportProps) {
    super(scope, id);
    this.#encryptionKey = props.encryptionKey;
    // Athena accepts lower-case letters, digits and underscores without quotes.
    this.databaseName = `${props.namePrefix.toLowerCase().replaceAll('-', '_')}_ledger`;
    this.workGroupName = `${props.namePrefix}-ledger`;
    this.bucket = this.#createBucket(props);
    const database = new CfnDatabase(this, 'Database', {
      catalogId: Aws.ACCOUNT_ID,
      databaseInput: { name: this.databaseName, description: 'Ledger of Walkback' },
    });
    for (const name of TABLES) this.#addTable(name, database);
    this.#addWorkGroup();
  }

  #createBucket({ encryptionKey, retention, removalPolicy, accessLogsBucket }: LedgerExportProps): Bucket {
    const kept: LifecycleRule[] =
      retention === undefined
        ? []
        : TABLES.map((name) => ({ id: name, prefix: `${name}/`, expiration: retention }));
    // Not versioned: each object can be made again from the ledger.
    return createPrivateBucket(this, {
      what: 'what',
      encryptionKey,
      accessLogsBucket,
      removalPolicy,
      lifecycleRules: [
        {
          id: 'results',
          prefix: RESULTS,
          expiration: Duration.days(RESULTS_DAYS),
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
        ...kept,
      ],
    });
  }

  #addTable(name: ExportTable, database: CfnDatabase): void {
    const { columns, day } = EXPORT_TABLES[name];
    const location = `s3://${this.bucket.bucketName}/${name}/`;
    const table = new CfnTable(this, `Table-${name}`, {
      catalogId: Aws.ACCOUNT_ID,
      databaseName: this.databaseName,
      tableInput: {
        name,
        tableType: 'EXTERNAL_TABLE',
        partitionKeys: [{ name: EXPORT_PARTITION, type: 'string', comment: day }],
        parameters: {
          EXTERNAL: 'TRUE',
          classification: 'json',
          'projection.enabled': 'true',
          [`projection.${EXPORT_PARTITION}.type`]: 'date',
          [`projection.${EXPORT_PARTITION}.format`]: 'yyyy-MM-dd',
          [`projection.${EXPORT_PARTITION}.range`]: `${FIRST_DAY},NOW`,
          [`projection.${EXPORT_PARTITION}.interval`]: '1',
          [`projection.${EXPORT_PARTITION}.interval.unit`]: 'DAYS',
          'storage.location.template': `${location}${EXPORT_PARTITION}=\${${EXPORT_PARTITION}}/`,
        },
        storageDescriptor: {
          columns: Object.entries(columns).map(([column, type]) => ({ name: column, type })),
          location,
          inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
          outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
          serdeInfo: { serializationLibrary: 'org.apache.hive.hcatalog.data.JsonSerDe' },
        },
      },
    });
    table.addResourceDependency(database);
  }

  /** Results are encrypted like the bucket, and no client settings can send them elsewhere. */
  #addWorkGroup(): void {
    const group = new CfnWorkGroup(this, 'WorkGroup', {
      name: this.workGroupName,
      description: 'Queries of the Walkback ledger',
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        enforceWorkGroupConfiguration: true,
        publishCloudWatchMetricsEnabled: false,
        resultConfiguration: {
          outputLocation: `s3://${this.bucket.bucketName}/${RESULTS}`,
          encryptionConfiguration:
            this.#encryptionKey === undefined
              ? { encryptionOption: 'SSE_S3' }
              : { encryptionOption: 'SSE_KMS', kmsKey: this.#encryptionKey.keyArn },
        },
      },
    });
    for (const [name, queryString] of Object.entries(LEDGER_QUERIES)) {
      const query = new CfnNamedQuery(this, `Query-${name}`, {
        name,
        database: this.databaseName,
        workGroup: this.workGroupName,
        queryString,
      });
      query.addResourceDependency(group);
    }
  }

  /**
   * Lets a function write lines and see which exist. It cannot delete any, or read results. Without
   * ListBucket, S3 answers 403 for a missing object.
   */
  bindWrite(fn: WalkbackFunction): void {
    fn.fn.addEnvironment('WALKBACK_EXPORT_BUCKET', this.bucket.bucketName);
    fn.allow(['s3:GetObject', 's3:PutObject'], this.#lines());
    fn.allow(['s3:ListBucket'], [this.bucket.bucketArn]);
    NagSuppressions.addResourceSuppressions(
      fn.role,
      [
        {
          id: 'AwsSolutions-IAM5',
          reason: 'Objects are named by day and saga; these two prefixes are all that the export has.',
          appliesTo: [{ regex: '/^Resource::<.*Bucket.*\\.Arn>\\/(effects|reconciliations)\\/\\*$/' }],
        },
      ],
      true,
    );
  }

  /** The rights for querying these tables in this workgroup, and no others. */
  queryStatements(): PolicyStatement[] {
    const glue = (resource: string): string => arnOf('glue', resource);
    const key = this.#encryptionKey;
    return [
      new PolicyStatement({
        actions: [
          'athena:StartQueryExecution',
          'athena:StopQueryExecution',
          'athena:GetQueryExecution',
          'athena:GetQueryResults',
          'athena:ListQueryExecutions',
          'athena:GetWorkGroup',
          'athena:ListNamedQueries',
          'athena:GetNamedQuery',
        ],
        resources: [arnOf('athena', `workgroup/${this.workGroupName}`)],
      }),
      new PolicyStatement({
        actions: ['glue:GetDatabase', 'glue:GetTables', 'glue:GetTable', 'glue:GetPartitions'],
        resources: [
          glue('catalog'),
          glue(`database/${this.databaseName}`),
          ...TABLES.map((name) => glue(`table/${this.databaseName}/${name}`)),
        ],
      }),
      new PolicyStatement({
        actions: ['s3:ListBucket', 's3:GetBucketLocation'],
        resources: [this.bucket.bucketArn],
      }),
      new PolicyStatement({ actions: ['s3:GetObject'], resources: this.#lines() }),
      new PolicyStatement({
        actions: ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'],
        resources: [this.bucket.arnForObjects(`${RESULTS}*`)],
      }),
      ...(key === undefined
        ? []
        : [
            new PolicyStatement({
              actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
              resources: [key.keyArn],
              conditions: { StringEquals: { 'kms:ViaService': `s3.${Aws.REGION}.amazonaws.com` } },
            }),
          ]),
    ];
  }

  #lines(): string[] {
    return TABLES.map((name) => this.bucket.arnForObjects(`${name}/*`));
  }
}
