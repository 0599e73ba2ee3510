/** Functions of one's own in a directory of their own, and signs that they leave there. */
import { existsSync } from 'node:fs';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createFunctions, type LocalFunctions } from '../../local/lambda/functions.ts';
import type { FunctionPlan } from '../../local/plan.ts';

/** One of Walkback's, whose name is taken. */
export const OURS: FunctionPlan = {
  name: 'walkback-checkpoint',
  arn: 'arn',
  entry: 'functions/checkpoint.ts',
  timeoutMs: 1_000,
  memoryMb: 128,
  environment: {},
};

export interface OwnDirectory extends AsyncDisposable {
  path: string;
  file(name: string): string;
  write(name: string, text?: string): Promise<void>;
  read(name: string): Promise<string>;
  has(name: string): boolean;
  /** Resolves when somebody has made it. */
  made(name: string): Promise<void>;
}

export const ownDirectory = async (files: Record<string, string>): Promise<OwnDirectory> => {
  const directory = await mkdtempDisposable(join(tmpdir(), 'walkback-own-'));
  const file = (name: string): string => join(directory.path, name);
  const write = (name: string, text = ''): Promise<void> => writeFile(file(name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return {
    path: directory.path,
    file,
    write,
    read: (name) => readFile(file(name), 'utf8'),
    has: (name) => existsSync(file(name)),
    made: async (name) => {
      await expect.poll(() => existsSync(file(name)), { timeout: 120_000 }).toBe(true);
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
};

/**
 * A module whose function does what its event says: `blocks` makes the file `began`, then lets nothing else happen in its thread
 * until there is a file `gate`; `waits` does the same, and lets other things happen.
 */
export const obedient = (more = ''): string => `
import { execSync } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
${more}
const at = (name) => join(import.meta.dirname, name);
let calls = 0;
export const handler = async ({ does, began = 'began', gate = 'gate' } = {}) => {
  calls += 1;
  const mine = calls;
  switch (does) {
    case 'blocks':
      writeFileSync(at(began), '');
      while (!existsSync(at(gate))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      break;
    case 'waits':
      writeFileSync(at(began), '');
      while (!existsSync(at(gate))) await delay(5);
      break;
    case 'works on':
      for (;;) appendFileSync(at('traces'), '.');
    case 'shells out':
      execSync('touch "$BEGAN"; while [ -e "$BEGAN" ] && [ ! -e "$GATE" ]; do sleep 0.02; done', { env: { ...process.env, BEGAN: at(began), GATE: at(gate) } });
      break;
    case 'fails': throw new TypeError('no such seat\\u001b[2J');
    case 'fails later':
      setTimeout(() => { throw new RangeError('nobody waits for this'); });
      return new Promise(() => undefined);
    case 'rejects':
      Promise.reject(new RangeError('nobody handles this'));
      return new Promise(() => undefined);
    case 'exits': process.exit(3);
    case 'leaves a loop':
      setImmediate(() => { writeFileSync(at(began), ''); for (;;); });
      break;
    case 'hoards':
      for (const all = []; ; ) all.push(new Array(100_000).fill(all.length + 0.5));
  }
  return { calls: mine, label: process.env.OWN_LABEL };
};
`;

interface Served {
  functions: LocalFunctions;
  /** The answer of a call. */
  ask: (name: string, event?: object) => Promise<Record<string, unknown>>;
}

export const serve = async (
  directory: OwnDirectory,
  limits: Parameters<typeof createFunctions>[1] = {},
): Promise<Served & AsyncDisposable> => {
  const functions = createFunctions([OURS], limits);
  await functions.add(directory.path);
  return {
    functions,
    ask: async (name, event = {}) => {
      const fn = functions.find(name);
      if (fn === undefined) throw new Error(`there is no function ${name}`);
      return JSON.parse((await functions.invoke(fn, event)).payload) as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => functions.close(),
  };
};
