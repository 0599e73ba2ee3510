/** Starts the embedded cloud of this machine in the background, by the command that has it. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { IS_PACKAGED, PROJECT } from '../local/program.ts';
import { errorNamed, errors } from './errors.ts';
import type { Environment } from './target.ts';

const COMMAND = '@walkback/cli';

/**
 * The launcher of the command, from the calling project or beside this package. Undefined when it is not
 * installed.
 */
const findCommand = (cwd: string): string | undefined => {
  if (!IS_PACKAGED) return join(PROJECT, 'bin/walkback.mjs');
  for (const from of [join(cwd, 'package.json'), import.meta.url]) {
    try {
      return join(dirname(createRequire(from).resolve(`${COMMAND}/package.json`)), 'bin/walkback.mjs');
    } catch {
      // Not found from here.
    }
  }
  return undefined;
};

const textIn = (value: unknown, name: string): string | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const member: unknown = Reflect.get(value, name);
  return typeof member === 'string' ? member : undefined;
};

/** When it fails, its last line is the error as JSON. */
const failureOf = (cause: unknown): Error => {
  const said = textIn(cause, 'stderr') ?? String(cause);
  const last = said.trim().split('\n').at(-1) ?? '';
  try {
    const { error }: { error?: unknown } = JSON.parse(last);
    const message = textIn(error, 'message') ?? last;
    return errorNamed(textIn(error, 'name') ?? 'CloudUnavailable', message, { cause });
  } catch {
    return new errors.CloudUnavailable(`The embedded cloud did not start: ${last}`, { cause });
  }
};

/** Answers when the cloud is up, whoever started it. */
export const startDaemon = async (
  dataDir: string,
  { env, cwd, none }: { env: Environment; cwd: string; none: string },
  find = findCommand,
): Promise<void> => {
  const launcher = find(cwd);
  if (launcher === undefined) {
    throw new errors.CloudUnavailable(
      `${none}, and ${COMMAND}, which has it, is not installed here: npm i -D ${COMMAND}, or start it yourself with walkback up.`,
      // Another try would not install it.
      { retryable: false },
    );
  }
  // With the functions that the cloud served before.
  const words = ['up', '--detach', '--json', '--data', dataDir, '--as-before'];
  try {
    await promisify(execFile)(process.execPath, [launcher, ...words], { cwd, env });
  } catch (error) {
    throw failureOf(error);
  }
};
