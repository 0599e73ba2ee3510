/** The stack by the CDK's own command, onto the emulator. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { PROJECT } from '../../local/program.ts';
import { adaptTemplate, type Template } from './emulated-template.ts';
import { ACCOUNT, type Emulator, REGION } from './emulator.ts';

const CDK = join(PROJECT, 'node_modules/aws-cdk/bin/cdk');
const ANSWERS = 64 * 1024 * 1024;

export interface Stack {
  /** Once per account. */
  bootstrap(): Promise<void>;
  /** Answers the outputs by their names in the construct, `SagasTable`. */
  deploy(): Promise<Readonly<Record<string, string>>>;
  destroy(): Promise<void>;
  /** Changes the template that the next deployment takes. */
  change(edit: (template: Template) => void): void;
  /** What was left out and changed, and why. */
  told: readonly string[];
}

/** Synthesises the stack with the examples, and adapts it. */
export const prepareStack = async (
  emulator: Emulator,
  directory: string,
  variables: Readonly<Record<string, string>>,
): Promise<Stack> => {
  const assembly = join(directory, 'cdk.out');
  const file = join(assembly, 'Walkback.template.json');
  const cdk = async (...args: string[]): Promise<void> => {
    const env = {
      ...process.env,
      ...emulator.environment,
      CI: 'true',
      CDK_DISABLE_LEGACY_EXPORT_WARNING: '1',
    };
    const run = promisify(execFile)(process.execPath, [CDK, ...args], {
      cwd: PROJECT,
      env,
      maxBuffer: ANSWERS,
    });
    await run.catch((error: unknown) => {
      const said = error instanceof Error && 'stdout' in error && 'stderr' in error ? error : undefined;
      throw new Error(`cdk ${args[0] ?? ''} failed\n${String(said?.stdout)}\n${String(said?.stderr)}`);
    });
  };
  await cdk('synth', '--quiet', '--output', assembly, '--context', 'walkback:examples=true');
  const read = (): Template => JSON.parse(readFileSync(file, 'utf8')) as Template;
  const { template, told } = adaptTemplate(read(), emulator.types, variables);
  writeFileSync(file, JSON.stringify(template));
  const outputs = join(directory, 'outputs.json');
  const app = ['--app', assembly];
  return {
    told,
    bootstrap: async () => {
      await cdk('bootstrap', `aws://${ACCOUNT}/${REGION}`, ...app);
      // Its policy refuses plain http, as those of the stack do.
      const { AWS_ENDPOINT_URL: endpoint } = emulator.environment;
      const credentials = { accessKeyId: ACCOUNT, secretAccessKey: 'unused' };
      const s3 = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials });
      await s3.send(new DeleteBucketPolicyCommand({ Bucket: `cdk-hnb659fds-assets-${ACCOUNT}-${REGION}` }));
    },
    deploy: async () => {
      await cdk(
        'deploy',
        ...app,
        '--require-approval',
        'never',
        '--method',
        'direct',
        '--outputs-file',
        outputs,
      );
      const { Walkback } = JSON.parse(readFileSync(outputs, 'utf8')) as {
        Walkback: Record<string, string>;
      };
      return Object.fromEntries(
        Object.entries(Walkback).map(([name, value]) => [
          name.replace(/^Walkback(.+)Output[0-9A-F]{8}$/, '$1'),
          value,
        ]),
      );
    },
    destroy: () => cdk('destroy', ...app, '--force'),
    change: (edit) => {
      const changed = read();
      edit(changed);
      writeFileSync(file, JSON.stringify(changed));
    },
  };
};
