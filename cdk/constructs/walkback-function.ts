import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AssetHashType, Aws, CfnResource, DockerImage, Duration, type RemovalPolicy } from 'aws-cdk-lib';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';

const PROJECT = join(import.meta.dirname, '../..');
/** In the package, the functions were bundled when it was built, and there are no sources. */
const BUNDLES = import.meta.url.endsWith('.ts') ? undefined : join(import.meta.dirname, 'functions');

const BUNDLE_FUNCTION = join(PROJECT, 'cdk/bundle-function.ts');

/** What all functions of one deployment share. */
export interface FunctionDefaults {
  namePrefix: string;
  logRetention: RetentionDays;
  removalPolicy: RemovalPolicy;
  tracing: boolean;
  encryptionKey?: IKey;
  vpc?: IVpc;
  vpcSubnets?: SubnetSelection;
  securityGroups?: ISecurityGroup[];
}

export interface WalkbackFunctionProps extends FunctionDefaults {
  name: string;
  description: string;
  timeoutSeconds: number;
  entry?: string;
  reservedConcurrency?: number;
}

const createRole = (scope: Construct, logGroup: LogGroup, props: WalkbackFunctionProps): Role => {
  // Used instead of AWSLambdaBasicExecutionRole, which may write every log of the account.
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  if (props.encryptionKey !== undefined) props.encryptionKey.grantEncryptDecrypt(role);
  if (props.vpc === undefined) return role;
  role.addToPolicy(
    new PolicyStatement({
      actions: [
        'ec2:CreateNetworkInterface',
        'ec2:DescribeNetworkInterfaces',
        'ec2:DescribeSubnets',
        'ec2:DeleteNetworkInterface',
        'ec2:AssignPrivateIpAddresses',
        'ec2:UnassignPrivateIpAddresses',
      ],
      resources: ['*'],
    }),
  );
  return role;
};

/** Made by a separate process, so that esbuild is loaded only where bundles are made. */
const bundled = (entry: string): Code =>
  Code.fromAsset(PROJECT, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // No container is started: the bundle is made here, and the command only distinguishes functions.
      image: DockerImage.fromRegistry('none'),
      command: [entry],
      local: {
        tryBundle: (outdir) => {
          execFileSync(process.execPath, [BUNDLE_FUNCTION, entry, outdir], {
            stdio: ['ignore', 'ignore', 'inherit'],
          });
          return true;
        },
      },
    },
  });

/** Where a function's code comes from: its bundle in the package, else its source. */
const codeOf = (name: string, entry: string): Code => {
  if (BUNDLES === undefined) return bundled(entry);
  const bundle = join(BUNDLES, name);
  if (!existsSync(bundle))
    throw new Error(`the package has no bundle of ${entry}: it is in the repository only`);
  return Code.fromAsset(bundle);
};

/**
 * One Lambda from `functions/<name>.ts` (or `entry`), which exports `handler`, with its own role and log
 * group. The entry's path is in the template's metadata, where the embedded cloud finds it.
 */
export class WalkbackFunction extends Construct {
  readonly fn: LambdaFunction;
  readonly role: Role;
  /** The id in the table of functions, without prefix. */
  readonly functionId: string;

  constructor(scope: Construct, id: string, props: WalkbackFunctionProps) {
    super(scope, id);
    this.functionId = props.name;
    const entry = props.entry ?? `functions/${props.name}.ts`;
    const logGroup = new LogGroup(this, 'Log', {
      retention: props.logRetention,
      removalPolicy: props.removalPolicy,
      encryptionKey: props.encryptionKey,
    });
    this.role = createRole(this, logGroup, props);
    this.fn = new LambdaFunction(this, 'Function', {
      functionName: `${props.namePrefix}-${props.name}`,
      description: props.description,
      code: codeOf(props.name, entry),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      timeout: Duration.seconds(props.timeoutSeconds),
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Not an environment variable: the embedded cloud's functions share our process, and must be quiet.
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: {
        POWERTOOLS_SERVICE_NAME: 'walkback',
        POWERTOOLS_METRICS_NAMESPACE: props.namePrefix,
        // The code that traces is then not even loaded.
        ...(props.tracing ? {} : { POWERTOOLS_TRACE_ENABLED: 'false' }),
      },
      environmentEncryption: props.encryptionKey,
      reservedConcurrentExecutions: props.reservedConcurrency,
      vpc: props.vpc,
      vpcSubnets: props.vpcSubnets,
      securityGroups: props.securityGroups,
    });
    if (this.fn.node.defaultChild instanceof CfnResource) {
      this.fn.node.defaultChild.addMetadata('walkback:entry', entry);
    }
    this.#justify(props.vpc !== undefined);
  }

  allow(
    actions: readonly string[],
    resources: readonly string[],
    conditions?: Record<string, unknown>,
  ): void {
    this.role.addToPolicy(
      new PolicyStatement({
        actions: [...actions],
        resources: [...resources],
        ...(conditions && { conditions }),
      }),
    );
  }

  #justify(inVpc: boolean): void {
    const network = inVpc ? ' Neither have the network interfaces of a function in a VPC.' : '';
    NagSuppressions.addResourceSuppressions(
      this.role,
      [
        {
          id: 'AwsSolutions-IAM5',
          reason: `X-Ray's PutTraceSegments and PutTelemetryRecords, and DynamoDB's ListStreams, have no resource level.${network}`,
          appliesTo: ['Resource::*'],
        },
        {
          id: 'AwsSolutions-IAM5',
          reason:
            "The CDK's grants on a key name both forms of these operations; the resource is that one key.",
          appliesTo: ['Action::kms:GenerateDataKey*', 'Action::kms:ReEncrypt*'],
        },
      ],
      true,
    );
  }
}

/**
 * The account's regional ARN of a resource, made from its name instead of a reference, because machine and
 * functions refer to each other.
 */
export const arnOf = (service: string, resource: string): string =>
  `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
