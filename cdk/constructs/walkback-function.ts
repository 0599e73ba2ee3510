import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Aws, CfnResource, Duration, type RemovalPolicy } from 'aws-cdk-lib';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, type NodejsFunctionProps, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { NagSuppressions } from 'cdk-nag';
import { Construct } from 'constructs';

const PROJECT = join(import.meta.dirname, '../..');
/** In the package the functions were bundled when it was built, and there are no sources. */
const BUNDLES = import.meta.url.endsWith('.ts') ? undefined : join(import.meta.dirname, 'functions');

/** Gives bundled CommonJS dependencies the `require` that an ES module does not have. */
const REQUIRE_BANNER =
  "import { createRequire as walkbackRequire } from 'node:module'; const require = walkbackRequire(import.meta.url);";

/** What all functions of one deployment have in common. */
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
  // Instead of AWSLambdaBasicExecutionRole, which may write every log of the account.
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

const processBundle = (inputDir: string, outputDir: string): string =>
  [
    `"${inputDir}/node_modules/.bin/esbuild" "${inputDir}/adapters/jsonata/process.ts"`,
    `--bundle --platform=node --format=esm --target=node24 --log-level=warning`,
    `--outfile="${outputDir}/jsonata-process.mjs"`,
  ].join(' ');

const bundlingOf = (entry: string) => ({
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  // Its first line says whose bundle it is (cdk/bundle-sizes.ts).
  banner: `// ${entry}\n${REQUIRE_BANNER}`,
  // The runtime carries the SDK; with it bundled, no function would stay under 1.5 MB.
  externalModules: ['@aws-sdk/*', '@smithy/*'],
  esbuildArgs: {
    // Libraries are a third comments and blanks. Names stay, and lines stay short enough to be named in a stack.
    '--minify-syntax': true,
    '--minify-whitespace': true,
    '--line-limit': '160',
    '--alias:dockerfile-ast': join(PROJECT, 'cdk/stubs/dockerfile-ast.ts'),
    '--alias:platform': join(PROJECT, 'cdk/stubs/platform.ts'),
    '--alias:semver': join(PROJECT, 'cdk/stubs/semver.ts'),
    '--alias:chalk': join(PROJECT, 'cdk/stubs/chalk.ts'),
  },
  commandHooks: {
    beforeBundling: () => [],
    beforeInstall: () => [],
    // Read at run time, from beside the code that sends them to the sandbox.
    afterBundling: (inputDir: string, outputDir: string) => [
      `cp -r "${inputDir}"/sandbox "${outputDir}"`,
      // A process of its own for expressions, beside the functions that start it.
      `if grep -q jsonata-process "${outputDir}/index.mjs"; then ${processBundle(inputDir, outputDir)}; fi`,
    ],
  },
  // Stack traces and literal error names stay readable.
  minify: false,
});

/** Where the code of a function comes from: its bundle in the package, else its source. */
const codeOf = (name: string, entry: string): NodejsFunctionProps => {
  if (BUNDLES !== undefined) {
    const bundle = join(BUNDLES, name);
    if (!existsSync(bundle))
      throw new Error(`the package has no bundle of ${entry}: it is in the repository only`);
    return { code: Code.fromAsset(bundle), handler: 'index.handler' };
  }
  return {
    entry: join(PROJECT, entry),
    projectRoot: PROJECT,
    depsLockFilePath: join(PROJECT, 'package-lock.json'),
    bundling: bundlingOf(entry),
  };
};

/**
 * One Lambda from `functions/<name>.ts` (or `entry`), exporting `handler`, with a role and a log group of its own. The
 * entry's path stands in the template's metadata, where the embedded cloud finds it.
 */
export class WalkbackFunction extends Construct {
  readonly fn: NodejsFunction;
  readonly role: Role;
  /** As in the table of functions, without prefix. */
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
    this.fn = new NodejsFunction(this, 'Function', {
      functionName: `${props.namePrefix}-${props.name}`,
      description: props.description,
      ...codeOf(props.name, entry),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      timeout: Duration.seconds(props.timeoutSeconds),
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      // Not a variable: the embedded cloud's functions share ours, and are to be quiet.
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: {
        POWERTOOLS_SERVICE_NAME: 'walkback',
        POWERTOOLS_METRICS_NAMESPACE: props.namePrefix,
        // What would trace is then not even loaded.
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

/** The account's regional ARN of a resource that is named, not referenced: machine and functions name each other. */
export const arnOf = (service: string, resource: string): string =>
  `arn:${Aws.PARTITION}:${service}:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`;
