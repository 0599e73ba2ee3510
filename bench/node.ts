/** Runs this Node in a fresh process with a small environment; answers what it printed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const runNode = async (
  args: readonly string[],
  cwd: string,
  environment: Record<string, string>,
): Promise<string> => {
  const { PATH, HOME } = process.env;
  return (await run(process.execPath, args, { cwd, env: { PATH, HOME, ...environment } })).stdout;
};
