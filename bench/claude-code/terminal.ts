/** Claude Code in a terminal of its own (tmux), with keys as a person presses them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentFor } from '../../test/support/hosts/claude.ts';
import { BINARY } from '../../test/support/hosts/claude-binary.ts';

const POLL_MS = 20;
const PATIENCE_MS = 90_000;
/** The host takes a burst of keys for pasted text. */
const KEY_MS = 60;
const ASKS = /Do you want to (?:proceed|make this edit|create)/;

export interface Screen extends AsyncDisposable {
  /** How many keys were pressed so far. */
  keys(): number;
  /** Types a text, key by key. */
  type(text: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
  text(): string;
  /** How often the host asked for a permission. */
  questions(): number;
  /** Waits until the screen shows it. */
  until(shown: RegExp): Promise<void>;
}

export const isTmuxThere = (): boolean => {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
};

export interface HostOptions {
  home: string;
  cwd: string;
  /** Of the scripted model. */
  url: string;
  args: readonly string[];
  env?: Record<string, string>;
}

/** What a person has answered long ago: the first questions of the host. */
const settle = (home: string, cwd: string): void => {
  const config = join(home, '.claude');
  mkdirSync(config, { recursive: true });
  const answered = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['none'], rejected: [] },
    projects: { [cwd]: { hasTrustDialogAccepted: true } },
  };
  writeFileSync(join(config, '.claude.json'), JSON.stringify(answered));
};

let screens = 0;

export const openScreen = async ({ home, cwd, url, args, env = {} }: HostOptions): Promise<Screen> => {
  if (BINARY === undefined) throw new Error('install the hosts first: npm run hosts');
  settle(home, cwd);
  screens += 1;
  const server = ['-L', `walkback-bench-${process.pid}-${screens}`, '-f', '/dev/null'];
  const tmux = (...words: string[]): string =>
    execFileSync('tmux', [...server, ...words], { encoding: 'utf8' });
  const variables = Object.entries({ ...environmentFor({ url }, home), TERM: 'screen-256color', ...env });
  const command = ['env', '-i', ...variables.map(([name, value]) => `${name}=${value}`), BINARY, ...args];
  tmux('new-session', '-d', '-x', '140', '-y', '60', '-s', 'host', '-c', cwd, ...command);
  let keys = 0;
  const press = async (...pressed: string[]): Promise<void> => {
    for (const key of pressed) {
      tmux('send-keys', '-t', 'host', key);
      keys += 1;
      await delay(KEY_MS);
    }
  };
  const text = (): string => tmux('capture-pane', '-p', '-t', 'host');
  let questions = 0;
  let isAsking = false;
  const look = (): string => {
    const seen = text();
    const asks = ASKS.test(seen);
    if (asks && !isAsking) questions += 1;
    isAsking = asks;
    return seen;
  };
  const until = async (shown: RegExp): Promise<void> => {
    const endMs = Date.now() + PATIENCE_MS;
    while (!shown.test(look())) {
      if (Date.now() > endMs) throw new Error(`The screen does not show ${String(shown)}:\n${text()}`);
      await delay(POLL_MS);
    }
  };
  return {
    keys: () => keys,
    type: async (typed) => {
      for (const key of typed) {
        tmux('send-keys', '-t', 'host', '-l', key);
        keys += 1;
        await delay(KEY_MS);
      }
    },
    press,
    text,
    questions: () => questions,
    until,
    [Symbol.asyncDispose]: async () => {
      tmux('kill-server');
    },
  };
};
