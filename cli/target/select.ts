import { dataDirFor, type Environment, type Target, targetOf } from '../../client/target.ts';
import { CliError } from '../failure.ts';

export interface TargetFlags {
  local?: boolean;
  aws?: boolean;
  data?: string;
}

/** Where a command's functions run. Flags have priority; then the environment decides, as for the client. */
export const selectTarget = (flags: TargetFlags, env: Environment, cwd: string): Target => {
  if (flags.aws === true && (flags.local === true || flags.data !== undefined)) {
    throw new CliError('InvalidInput', '--aws cannot be combined with --local or --data.');
  }
  if (flags.local === true || flags.data !== undefined) {
    return { kind: 'local', dataDir: dataDirFor(flags.data, env, cwd) };
  }
  if (flags.aws === true) return { kind: 'aws', because: '--aws' };
  return targetOf(env, cwd);
};
