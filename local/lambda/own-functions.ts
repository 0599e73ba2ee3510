/**
 * Functions of the user's, beside Walkback's: the modules of a directory, or one module. A module is read
 * when the cloud starts, so that errors in it are reported then, and again when its file has changed. They
 * run in threads of their own (own-threads.ts).
 */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { FunctionPlan } from '../plan.ts';
import { functionArn } from '../resolve.ts';
import { writtenMs } from './loaded-files.ts';
import type { ModuleContent } from './module-content.ts';
import { nameOfModule, OWN_MEMORY_MB, readModule } from './read-module.ts';

const MODULE = /\.(?:ts|mts|cts|js|mjs|cjs)$/;
const NOT_A_FUNCTION = /^[._]|\.d\.[cm]?ts$|\.(?:test|spec)\.[cm]?[jt]s$/;
/** Lambda's own rule. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const refuse = (message: string): never => {
  throw new WalkbackError('ConfigurationError', message);
};

/** The error for two functions of one name. The other one is Walkback's own when it has no file. */
export const twins = (name: string, entry: string, other: string | undefined): WalkbackError =>
  new WalkbackError(
    'ConfigurationError',
    other === undefined
      ? `${entry}: there is a function "${name}" already, one of Walkback's own; rename the file`
      : `${other} and ${entry} are both a function "${name}"; rename one of them, or name only one with --functions`,
  );

/** The modules of a directory: those in it, and the index of each of its directories. */
const modulesIn = async (directory: string): Promise<string[]> => {
  const entries = (await readdir(directory, { withFileTypes: true })).filter(
    ({ name }) => !NOT_A_FUNCTION.test(name) && name !== 'node_modules',
  );
  return entries
    .filter((entry) => entry.isFile() && MODULE.test(entry.name))
    .map(({ name }) => join(directory, name))
    .sort();
};

/**
 * `handler` under the name of the file. A module without one, if it was named itself, gives every function
 * that it exports.
 */
const handlersOf = (
  entry: string,
  { functions }: ModuleContent,
  wasNamed: boolean,
): { name: string; exported: string }[] => {
  if (functions.includes('handler')) return [{ name: nameOfModule(entry), exported: 'handler' }];
  return wasNamed ? functions.map((name) => ({ name, exported: name })) : [];
};

/** When the file was last written. An edited module is another version. */
export const versionOf = (fn: FunctionPlan): string => String(writtenMs(fn.entry) ?? '');

/**
 * The functions of a directory or a module. Throws `ConfigurationError`, which names the file and what is
 * wrong with it.
 */
export const findOwnFunctions = async (source: string): Promise<FunctionPlan[]> => {
  const path = resolve(source);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return refuse(`--functions ${source}: there is no such directory or module`);
  const wasNamed = !found.isDirectory();
  const plans: FunctionPlan[] = [];
  for (const entry of wasNamed ? [path] : await modulesIn(path)) {
    const content = await readModule(entry);
    for (const { name, exported } of handlersOf(entry, content, wasNamed)) {
      if (!NAME.test(name))
        return refuse(`${entry}: "${name}" is no name of a function (letters, digits, - and _, at most 64)`);
      const twin = plans.find((plan) => plan.name === name);
      if (twin !== undefined) throw twins(name, entry, twin.entry);
      plans.push({
        name,
        arn: functionArn(name),
        entry,
        exported,
        timeoutMs: content.timeoutMs,
        memoryMb: OWN_MEMORY_MB,
        environment: {},
      });
    }
  }
  if (plans.length > 0) return plans;
  return refuse(
    wasNamed
      ? `${source} exports no function`
      : `${source} holds no module (*.ts, *.mjs, *.js, ...) that exports a function "handler"`,
  );
};
