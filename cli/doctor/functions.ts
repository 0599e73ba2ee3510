/** Where the functions are, and whether they answer. Starts nothing. */
import { connect } from '../../client/connect.ts';
import { errors } from '../../client/errors.ts';
import { keepConnection } from '../../client/keep-connection.ts';
import type { Target } from '../../client/target.ts';
import { cloudFileOf, isAlive } from '../../local/data-dir.ts';
import manifest from '../../package.json' with { type: 'json' };
import { CliError } from '../failure.ts';
import { createCommandInvoke } from '../target/invoke.ts';
import { type Check, check } from './check.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the doctor waits for an answer. */
const PATIENCE_MS = 20_000;

const daemon = async (dataDir: string): Promise<Check> => {
  const file = await cloudFileOf(dataDir);
  const id = 'daemon';
  if (file === undefined) return check(id, true, 'none runs; a command starts it when it is needed', '');
  const { pid, version } = file;
  if (!isAlive(file)) {
    return check(id, true, `none runs; process ${pid} was killed, and the next start goes on after it`, '');
  }
  if (Object.keys(file.environment).length === 0) {
    return check(id, true, `process ${pid} starts, ends, or belongs to another command`, '');
  }
  return check(
    id,
    version === manifest.version,
    `process ${pid}, ${version}`,
    `this command is ${manifest.version}: walkback down, and the next command starts its own`,
  );
};

const whereOf = (target: Target): string => {
  switch (target.kind) {
    case 'aws':
      return `AWS, because of ${target.because}`;
    case 'environment':
      return `the embedded cloud at ${target.endpoint}, named by the environment`;
    case 'local':
      return `the embedded cloud over ${target.dataDir}`;
  }
};

const answers = async (
  target: Target,
  { env, cwd, signal }: { env: Environment; cwd: string; signal: AbortSignal },
): Promise<Check> => {
  const options = target.kind === 'local' ? { dataDir: target.dataDir, start: false } : {};
  const kept = keepConnection(() => connect(options, env, cwd));
  const namePrefix = target.kind === 'aws' ? env['WALKBACK_NAME_PREFIX'] : undefined;
  const invoke = createCommandInvoke({
    ...kept,
    signal,
    attempts: 1,
    patienceMs: () => PATIENCE_MS,
    ...(namePrefix ? { namePrefix } : {}),
  });
  const where = whereOf(target);
  try {
    await invoke('walkback-list-sessions', { limit: 1 });
    return check('functions', true, `${where} answers`, '');
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CliError)) throw error;
    const isOff = target.kind === 'local' && error.cause instanceof errors.CloudUnavailable;
    if (isOff && (await cloudFileOf(target.dataDir)) === undefined) {
      return check('functions', true, `${where}, which does not run`, '');
    }
    const advice =
      error.hint ?? 'walkback down, then walkback up --detach; daemon.log in the data directory says more';
    return check('functions', false, `${where}: ${error.errorName}: ${error.message}`, advice);
  } finally {
    await kept.close().catch(() => undefined);
  }
};

export const checkFunctions = async (
  target: Target,
  dataDir: string,
  surroundings: { env: Environment; cwd: string; signal: AbortSignal },
): Promise<Check[]> => [await daemon(dataDir), await answers(target, surroundings)];
