/** The environment of a command: a fixed list, so that no variable of the server leaks in. */
import { join } from 'node:path';
import { homeDirectory, userName } from '../../kit/machine-user.ts';
import { HOME } from './paths.ts';
import { MARKER } from './process-kill.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A mounted sandbox is the user's own directory, so their own git settings apply. */
const OWN_CONFIGURATION = ['GIT_CONFIG_GLOBAL', 'XDG_CONFIG_HOME'];

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const homeOf = (record: SandboxRecord, rootfs: string, server: Environment): Record<string, string> => {
  const home = join(rootfs, HOME);
  if (record.mounts.length === 0) return { HOME: home };
  const own = OWN_CONFIGURATION.flatMap((name) => (server[name] === undefined ? [] : [[name, server[name]]]));
  return { HOME: homeDirectory() ?? home, ...Object.fromEntries(own) };
};

/** The request's `envs` override those of the sandbox, which override ours. */
export const commandEnvironment = (
  record: SandboxRecord,
  rootfs: string,
  server: Environment,
  envs: Record<string, string>,
): Record<string, string> => {
  const username = userName() ?? 'user';
  return {
    PATH: server['PATH'] ?? DEFAULT_PATH,
    ...homeOf(record, rootfs, server),
    USER: username,
    LOGNAME: username,
    E2B_SANDBOX: 'true',
    ...record.envs,
    ...envs,
    [MARKER]: record.sandboxId,
  };
};
