import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { WalkbackError } from '../../core/shared/errors.ts';

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const packagedPath = (): string | undefined => {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch {
    // Not built for this machine, or installed with --omit=optional. PATH is tried next.
    return undefined;
  }
};

const onPath = (path: string): string | undefined =>
  path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, 'dynoxide'))
    .find(isExecutable);

export type DynamoDbSource = { kind: 'binary'; path: string } | { kind: 'endpoint'; url: string };

/**
 * Where DynamoDB comes from: the npm package (an empty `packagedBinary` means none), else `dynoxide` on PATH,
 * else an endpoint that somebody runs. Throws `ConfigurationError`, which says what to install.
 */
export const findDynamoDb = (
  env: Record<string, string | undefined>,
  packagedBinary: string | undefined = packagedPath(),
): DynamoDbSource => {
  const path = packagedBinary || onPath(env['PATH'] ?? '');
  if (path && isExecutable(path)) return { kind: 'binary', path };
  const url = env['AWS_ENDPOINT_URL_DYNAMODB'];
  if (url !== undefined && url !== '') return { kind: 'endpoint', url };
  throw new WalkbackError(
    'ConfigurationError',
    `no DynamoDB for ${process.platform}-${process.arch}: install @dynoxide/${process.platform}-${process.arch} ` +
      '(npm i --include=optional), or put `dynoxide` on PATH (cargo install dynoxide-rs), ' +
      'or set AWS_ENDPOINT_URL_DYNAMODB to a DynamoDB emulator that runs already',
  );
};
