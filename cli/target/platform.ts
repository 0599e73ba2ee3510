import { CliError } from '../failure.ts';

/**
 * The embedded cloud runs programs that are built for Linux. The command itself also runs on macOS, where it calls
 * deployed functions. Throws `ConfigurationError` where the cloud cannot run.
 */
export const requireLinux = ({
  platform,
  arch,
}: Pick<NodeJS.Process, 'platform' | 'arch'> = process): void => {
  if (platform === 'linux') return;
  throw new CliError(
    'ConfigurationError',
    `The embedded cloud needs Linux on x64; this is ${platform} on ${arch}.`,
    { hint: '--aws, or the usual AWS environment, uses deployed functions, which works here too' },
  );
};
