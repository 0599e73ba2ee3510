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

const missing = (platform: string, arch: string): string => {
  const another =
    'WALKBACK_DYNOXIDE may name a build of it for this machine, or AWS_ENDPOINT_URL_DYNAMODB a DynamoDB emulator that runs already';
  return platform === 'linux' && arch === 'x64'
    ? `the embedded database (@dynoxide/linux-x64) is not installed: install again with npm i --include=optional. ${another}`
    : `the embedded database (dynoxide) comes for Linux on x64 only, and this is ${platform} on ${arch}. ${another}`;
};

/**
 * Where DynamoDB comes from: the build that `WALKBACK_DYNOXIDE` names, else the npm package (an empty
 * `packagedBinary` means none), else `dynoxide` on PATH, else an endpoint that somebody runs. Throws
 * `ConfigurationError`, which says what is missing on this machine.
 */
export const findDynamoDb = (
  env: Record<string, string | undefined>,
  packagedBinary: string | undefined = packagedPath(),
  { platform, arch }: { platform: string; arch: string } = process,
): DynamoDbSource => {
  const named = env['WALKBACK_DYNOXIDE'] ?? '';
  if (named !== '' && !isExecutable(named))
    throw new WalkbackError('ConfigurationError', `WALKBACK_DYNOXIDE names ${named}, which cannot be run`);
  const path = named || packagedBinary || onPath(env['PATH'] ?? '');
  if (path && isExecutable(path)) return { kind: 'binary', path };
  const url = env['AWS_ENDPOINT_URL_DYNAMODB'];
  if (url !== undefined && url !== '') return { kind: 'endpoint', url };
  throw new WalkbackError('ConfigurationError', missing(platform, arch));
};
