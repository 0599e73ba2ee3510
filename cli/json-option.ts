import { isJson, type Json, jsonProblem } from '../contract/json.ts';
import { CliError } from './failure.ts';
import { readNamedFile } from './named-files.ts';

/** JSON on the command line, or `@file`. */
export const readJson = async (text: string, what: string): Promise<Json> => {
  const content = text.startsWith('@') ? await readNamedFile(text.slice(1)) : text;
  try {
    const value: unknown = JSON.parse(content);
    if (isJson(value)) return value;
    throw new CliError('InvalidInput', `${what} ${jsonProblem(value) ?? 'is not JSON'}.`);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError('InvalidInput', `${what} is not JSON.`, { cause, hint: 'give JSON, or @FILE' });
  }
};
