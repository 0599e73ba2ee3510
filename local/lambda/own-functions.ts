/**
 * Functions of whoever runs the cloud, beside Walkback's: modules of a directory, or one module. A module is read when
 * the cloud starts, so that what is wrong with it is said then, and again when its file has changed. They run in a thread of their own
 * (own-thread.ts).
 */
import { statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { FunctionPlan } from '../plan.ts';
import { functionArn } from '../resolve.ts';
import { type ModuleContent, type OwnThread, unreadable } from './own-thread.ts';

const MODULE = /\.(?:ts|mts|cts|js|mjs|cjs)$/;
const NOT_A_FUNCTION = /^[._]|\.d\.[cm]?ts$|\.(?:test|spec)\.[cm]?[jt]s$/;
/** Lambda's own rule. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Of a tool that says nothing else: shorter than the longest a saga waits for one of 30 seconds. */
const DEFAULT_TIMEOUT_SECONDS = 30;
const MEMORY_MB = 1024;

const timeoutSchema = z.int().min(1).max(900).default(DEFAULT_TIMEOUT_SECONDS);

const refuse = (message: string): never => {
  throw new WalkbackError('ConfigurationError', message);
};

const nameOf = (file: string): string => basename(file, extname(file));

/** The modules of a directory: its own, and the index of each directory in it. */
const modulesIn = async (directory: string): Promise<string[]> => {
  const entries = (await readdir(directory, { withFileTypes: true })).filter(
    ({ name }) => !NOT_A_FUNCTION.test(name) && name !== 'node_modules',
  );
  return entries
    .filter((entry) => entry.isFile() && MODULE.test(entry.name))
    .map(({ name }) => join(directory, name))
    .sort();
};

/** `handler` under the name of the file; without one, and only of a module that was named itself, every function it exports. */
const handlersOf = (
  entry: string,
  { functions }: ModuleContent,
  wasNamed: boolean,
): { name: string; exported: string }[] => {
  if (functions.includes('handler')) return [{ name: nameOf(entry), exported: 'handler' }];
  return wasNamed ? functions.map((name) => ({ name, exported: name })) : [];
};

/** When the file was last written: a module that was edited is another one. */
export const versionOf = (fn: FunctionPlan): string =>
  String(statSync(fn.entry, { throwIfNoEntry: false })?.mtimeMs ?? '');

/** The functions of a directory or a module. `ConfigurationError` says what is wrong with which file. */
export const findOwnFunctions = async (
  source: string,
  instance: string,
  { read }: Pick<OwnThread, 'read'>,
): Promise<FunctionPlan[]> => {
  const path = resolve(source);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return refuse(`--functions ${source}: there is no such directory or module`);
  const wasNamed = !found.isDirectory();
  const plans: FunctionPlan[] = [];
  for (const entry of wasNamed ? [path] : await modulesIn(path)) {
    const content = await read(entry, `${instance}-${statSync(entry).mtimeMs}`).catch((error: unknown) => {
      throw unreadable(entry, error);
    });
    const timeout = timeoutSchema.safeParse(content.timeoutSeconds);
    if (!timeout.success) return refuse(`${entry}: timeoutSeconds must be a whole number from 1 to 900`);
    for (const { name, exported } of handlersOf(entry, content, wasNamed)) {
      if (!NAME.test(name))
        return refuse(`${entry}: "${name}" is no name of a function (letters, digits, - and _, at most 64)`);
      const twin = plans.find((plan) => plan.name === name);
      if (twin !== undefined) return refuse(`${entry} and ${twin.entry} are both a function "${name}"`);
      plans.push({
        name,
        arn: functionArn(name),
        entry,
        exported,
        timeoutMs: timeout.data * 1000,
        memoryMb: MEMORY_MB,
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
