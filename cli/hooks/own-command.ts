/** Tells the plugin's own program from the agent's commands. */
import { isReadOnly } from '../../client/classify.ts';

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The command with the plugin's program under its plain name, which the classifier knows. */
const underItsName = (command: string, program: string): string =>
  command.replaceAll(
    new RegExp(`(^|[\\s;&|(])(["']?)${escaped(program)}\\2(?=$|[\\s;&|)])`, 'g'),
    '$1walkback',
  );

/** Whether this call of the host's shell only lists or plans, by the program of the plugin at this path. */
export const isOwnLook = (toolName: string | undefined, input: unknown, program: string): boolean => {
  if (toolName !== 'Bash' || program === '' || typeof input !== 'object' || input === null) return false;
  const command: unknown = Reflect.get(input, 'command');
  if (typeof command !== 'string' || !command.includes(program)) return false;
  return isReadOnly('Bash', { command: underItsName(command, program) });
};
