/** Options for a tool and its arguments. */
import { isJsonObject } from '../contract/json.ts';
import { CliError } from './failure.ts';
import { readJson } from './json-option.ts';

export const readArguments = async (text: string) => {
  const value = await readJson(text, '--arguments');
  if (isJsonObject(value)) return value;
  throw new CliError('InvalidInput', '--arguments is no JSON object.');
};

/** `NAME` or `NAME@VERSION`. */
export const toolOf = (text: string): { tool: string; version?: string } => {
  const [tool = '', version] = text.split('@');
  return version === undefined ? { tool } : { tool, version };
};
