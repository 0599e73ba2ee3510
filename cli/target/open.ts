import { connect, type Connection as Opened, openAws, openNamed } from '../../client/connect.ts';
import { keepConnection } from '../../client/keep-connection.ts';
import type { App, Connection } from '../app.ts';
import { CliError } from '../failure.ts';
import { issuerOf } from '../identity/issuer.ts';
import { paintFor, type Terminal } from '../terminal/terminal.ts';
import { tellingFullDisk } from './full-disk.ts';
import { createCommandInvoke } from './invoke.ts';
import { type LocalCloud, openLocalCloud } from './local-cloud.ts';
import { createLocalSandboxes, type E2bSettings } from './local-sandboxes.ts';
import { selectTarget } from './select.ts';

const openCloud = ({ environment, isShared }: LocalCloud): Opened => {
  const opened = openNamed(environment);
  if (opened === undefined)
    throw new CliError('CloudUnavailable', 'The embedded cloud says not where it is.');
  if (isShared) return opened;
  const { isFound: _never, ...own } = opened;
  return own;
};

const settingsIn = (environment: Opened['environment']): E2bSettings | undefined => {
  const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl } = environment;
  return apiKey !== undefined && apiUrl !== undefined && sandboxUrl !== undefined
    ? { apiKey, apiUrl, sandboxUrl }
    : undefined;
};

/** Opens the connection now, so that problems are reported before anything else is asked. */
const connection = async (
  open: () => Promise<Opened>,
  { signal, env, namePrefix }: { signal: AbortSignal; env: Terminal['env']; namePrefix?: string },
): Promise<Connection> => {
  const kept = keepConnection(open);
  const { environment } = await kept.connection();
  const invoke = createCommandInvoke({ ...kept, signal, ...(namePrefix ? { namePrefix } : {}) });
  const settings = settingsIn(environment);
  const issuer = issuerOf(settings === undefined ? env : environment);
  return {
    invoke,
    close: () => kept.close(),
    ...(issuer === undefined ? {} : { issuer }),
    ...(settings === undefined
      ? {}
      : {
          environment,
          sandboxes: createLocalSandboxes(
            async () => settingsIn((await kept.connection()).environment) ?? settings,
          ),
        }),
  };
};

/** The real `App.connect`: chooses the target, opens it, and says on stderr when it is AWS. */
export const createConnect =
  (terminal: Terminal, signal: AbortSignal): App['connect'] =>
  async (flags, { json, progress, isOwn = false }) => {
    const { env, cwd } = terminal;
    const target = selectTarget(flags, env, cwd);
    const say = (text: string): void => {
      if (json) return;
      terminal.stderr.write(`${paintFor(terminal, terminal.stderr).dim(text)}\n`);
    };
    if (target.kind === 'aws') {
      const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'as configured';
      say(`using AWS, region ${region}, because of ${target.because}; --local for the embedded cloud`);
      const namePrefix = env['WALKBACK_NAME_PREFIX'];
      return connection(async () => openAws(), { signal, env, ...(namePrefix ? { namePrefix } : {}) });
    }
    if (target.kind === 'environment') {
      say(`using the embedded cloud at ${target.endpoint}`);
      return connection(() => connect({}, env, cwd), { signal, env });
    }
    const clouds: LocalCloud[] = [];
    const { dataDir } = target;
    const opened = await tellingFullDisk(dataDir, () =>
      connection(
        async () => {
          const cloud = await openLocalCloud(dataDir, { progress, signal, env, isOwn, say });
          clouds.push(cloud);
          return openCloud(cloud);
        },
        { signal, env },
      ),
    );
    return {
      ...opened,
      invoke: (name, input) => tellingFullDisk(dataDir, () => opened.invoke(name, input)),
      close: async () => {
        await opened.close();
        await Promise.all(clouds.map((cloud) => cloud.close()));
      },
    };
  };
