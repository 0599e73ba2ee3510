/** Arguments of the benchmarks: all of them are read, and refused, before anything is measured. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Ends the program with what is wrong and how it is called. */
export const refuse = (message: string, usage: string): never => {
  console.error(`${message}\n${usage}`);
  process.exit(2);
};

export const wholeNumber = (text: string, usage: string): number => {
  const number = Number(text);
  return Number.isInteger(number) && number > 0
    ? number
    : refuse(`${JSON.stringify(text)} is no whole number above 0`, usage);
};

/** What `read` answers; what it does not understand is refused. */
export const readArguments = <Read>(read: () => Read, usage: string): Read => {
  try {
    return read();
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
};

/** Why the functions of this checkout cannot be measured; undefined when they can. */
export const checkoutProblem = (checkout: string): string | undefined => {
  const project = resolve(checkout);
  if (statSync(project, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `There is no directory ${project}.`;
  if (!existsSync(join(project, 'cdk/app.ts')))
    return `${project} is no checkout of Walkback: it has no cdk/app.ts.`;
  if (!existsSync(join(project, 'node_modules')))
    return `${project} has no node_modules: link those of this checkout into it.`;
  return undefined;
};
