import { isJson, type Json, jsonProblem } from '../contract/json.ts';
import { CliError } from './failure.ts';
import { readNamedFile } from './named-files.ts';

const parseJson = (content: string, what: string, hint: string): Json => {
  try {
    const value: unknown = JSON.parse(content);
    if (isJson(value)) return value;
    throw new CliError('InvalidInput', `${what} ${jsonProblem(value) ?? 'is not JSON'}.`);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError('InvalidInput', `${what} is not JSON.`, { cause, hint });
  }
};

/** JSON on the command line, or `@file`. */
export const readJson = async (text: string, what: string): Promise<Json> =>
  parseJson(text.startsWith('@') ? await readNamedFile(text.slice(1)) : text, what, 'give JSON, or @FILE');

/** A file that is an argument of its own. */
export const readJsonFile = async (file: string): Promise<Json> =>
  parseJson(await readNamedFile(file), file, 'name a file that holds JSON');
