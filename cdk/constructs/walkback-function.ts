import { join } from 'node:path';
import { CfnResource, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

const PROJECT = join(import.meta.dirname, '../..');

/** Gives bundled CommonJS dependencies the `require` that an ES module does not have. */
const REQUIRE_BANNER =
  "import { createRequire as walkbackRequire } from 'node:module'; const require = walkbackRequire(import.meta.url);";

interface WalkbackFunctionProps {
  name: string;
  description: string;
  timeoutSeconds: number;
  entry?: string;
}

/**
 * One Lambda from `functions/<name>.ts` (or `entry`), exporting `handler`. The entry's path stands in the template's
 * metadata, where the embedded cloud finds it.
 */
export class WalkbackFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, props: WalkbackFunctionProps) {
    const entry = props.entry ?? `functions/${props.name}.ts`;
    super(scope, id, {
      functionName: `walkback-${props.name}`,
      description: props.description,
      entry: join(PROJECT, entry),
      projectRoot: PROJECT,
      depsLockFilePath: join(PROJECT, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 1024,
      timeout: Duration.seconds(props.timeoutSeconds),
      logGroup: new LogGroup(scope, `${id}Logs`, {
        retention: RetentionDays.ONE_MONTH,
        removalPolicy: RemovalPolicy.DESTROY,
      }),
      bundling: {
        format: OutputFormat.ESM,
        target: 'node24',
        mainFields: ['module', 'main'],
        banner: REQUIRE_BANNER,
        // The runtime carries the SDK; with it bundled, no function would stay under 1.5 MB.
        externalModules: ['@aws-sdk/*', '@smithy/*'],
        esbuildArgs: { '--alias:dockerfile-ast': join(PROJECT, 'cdk/stubs/dockerfile-ast.ts') },
        commandHooks: {
          beforeBundling: () => [],
          beforeInstall: () => [],
          // Read at run time, from beside the code that sends them to the sandbox.
          afterBundling: (inputDir, outputDir) => [`cp "${inputDir}"/adapters/git/*.sh "${outputDir}"`],
        },
        // Stack traces and literal error names stay readable.
        minify: false,
      },
    });
    if (this.node.defaultChild instanceof CfnResource) {
      this.node.defaultChild.addMetadata('walkback:entry', entry);
    }
  }
}
