import type { App, Connection } from '../app.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { paintFor } from '../terminal/terminal.ts';
import { createInvoke } from './invoke.ts';
import { type LocalCloud, openLocalCloud } from './local-cloud.ts';
import { createLocalSandboxes } from './local-sandboxes.ts';
import { selectTarget } from './select.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Endpoints, keys and sandboxes of an embedded cloud, from what it tells to export. */
const connectTo = (
  environment: Environment,
): { invoke: Connection['invoke']; sandboxes?: Connection['sandboxes']; close: () => void } => {
  const endpoint = environment['AWS_ENDPOINT_URL_LAMBDA'] ?? environment['AWS_ENDPOINT_URL'];
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  const { invoke, close } = createInvoke({
    ...(endpoint === undefined ? {} : { endpoint }),
    region: environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  });
  const apiKey = environment['E2B_API_KEY'];
  const apiUrl = environment['E2B_API_URL'];
  const sandboxUrl = environment['E2B_SANDBOX_URL'];
  if (apiKey === undefined || apiUrl === undefined || sandboxUrl === undefined) return { invoke, close };
  return { invoke, close, sandboxes: createLocalSandboxes({ apiKey, apiUrl, sandboxUrl }) };
};

/** A connection to an embedded cloud, closing it too when it was started for this command. */
export const connectToCloud = (cloud: LocalCloud): Connection => {
  const { close, ...rest } = connectTo(cloud.environment);
  return {
    ...rest,
    close: async () => {
      close();
      await cloud.close();
    },
  };
};

/** The real `App.connect`: chooses the target, opens it, and says on stderr when it is AWS. */
export const createConnect =
  (terminal: Terminal, signal: AbortSignal): App['connect'] =>
  async (flags, { json, progress, isOwn = false }) => {
    const target = selectTarget(flags, terminal.env, terminal.cwd);
    const say = (text: string): void => {
      if (json) return;
      terminal.stderr.write(`${paintFor(terminal, terminal.stderr).dim(text)}\n`);
    };
    if (target.kind === 'aws') {
      const namePrefix = terminal.env['WALKBACK_NAME_PREFIX'];
      const { invoke, close } = createInvoke({}, namePrefix ? { namePrefix } : {});
      const region = terminal.env['AWS_REGION'] ?? terminal.env['AWS_DEFAULT_REGION'] ?? 'as configured';
      say(`using AWS, region ${region}, because of ${target.because}; --local for the embedded cloud`);
      return { invoke, close: async () => close() };
    }
    if (target.kind === 'environment') {
      say(`using the embedded cloud at ${target.endpoint}`);
      const { close, ...rest } = connectTo(terminal.env);
      return { ...rest, close: async () => close() };
    }
    return connectToCloud(
      await openLocalCloud(target.dataDir, { progress, signal, env: terminal.env, isOwn }),
    );
  };
