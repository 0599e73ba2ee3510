/**
 * The service for hooks of programs on this machine: the plugin of Claude Code sends each of its hooks here.
 * It owns the file `hooks.curl` of the data directory, which holds the address and the token. Only the person
 * can read it.
 */
import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Hono } from 'hono';
import * as z from 'zod';
import type { Walkback } from '../../client/index.ts';
import { sameSecret } from '../../core/shared/same-secret.ts';
import { startOf } from '../../local/data-dir.ts';
import { listenApp, type ServiceAddress } from '../../local/listen.ts';
import { PRIVATE_FILE } from '../../local/private-file.ts';
import { type Asked, isOfScript, misread, readAsked } from './asked.ts';
import { type KeptPrompts, openBegunPrompts } from './begun-prompts.ts';
import type { Conversation } from './conversation.ts';

/** A checkpoint may take 15 minutes. The hook's own time-out is longer. */
const MAX_SECONDS = 910;

/** The event that the script was registered for. */
const EVENT_HEADER = 'walkback-event';
/** The path of the plugin's own program. */
const PROGRAM_HEADER = 'walkback-program';

/** A header is bytes, which Node reads as Latin-1. A path is UTF-8. */
const pathIn = (header: string | undefined): string => Buffer.from(header ?? '', 'latin1').toString('utf8');

export interface HookService {
  close(): Promise<void>;
}

interface Loaded {
  walkback: Walkback;
  openConversation: (asked: Asked, prompts: KeptPrompts) => Conversation;
}

/** Only for the first hook: the client reads shell commands and calls functions, and most clouds hear no hook. */
const loadClient = async (dataDir: string): Promise<Loaded> => {
  const [client, { openConversation }] = await Promise.all([
    import('../../client/index.ts'),
    import('./conversation.ts'),
  ]);
  const walkback = new client.Walkback({ dataDir });
  return { walkback, openConversation: (asked, prompts) => openConversation(walkback, asked, prompts) };
};

/** Serves hooks beside the cloud of this directory until it is closed. */
export const startHookService = async (dataDir: string, place?: ServiceAddress): Promise<HookService> => {
  const token = randomBytes(32).toString('hex');
  let loading: Promise<Loaded> | undefined;
  /** Notices of the service itself, for the next request. */
  const notices: string[] = [];
  const prompts = openBegunPrompts(dataDir, (message) => void notices.push(`Walkback: ${message}`));
  const byHost = new Map<string, Conversation>();

  /** One that failed is tried again by the next hook. */
  const load = (): Promise<Loaded> => {
    loading ??= loadClient(dataDir).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  const conversationOf = async (asked: Asked): Promise<Conversation> => {
    const { openConversation } = await load();
    const { root, sessionId, mode, input } = asked;
    const key = [input.session_id, root, sessionId, mode].join('\0');
    const conversation = byHost.get(key) ?? openConversation(asked, prompts.of(input.session_id));
    byHost.set(key, conversation);
    return conversation;
  };

  const app = new Hono();
  app.post('/claude-code', async (context) => {
    if (!sameSecret(context.req.header('authorization'), `Bearer ${token}`)) return context.body(null, 401);
    const body = await context.req.text();
    const asked = readAsked(body);
    if (!asked.success && !isOfScript(body)) return context.text(z.prettifyError(asked.error), 400);
    if (!asked.success) return context.json(misread(asked.error, body, context.req.header(EVENT_HEADER)));
    const program = pathIn(context.req.header(PROGRAM_HEADER));
    const conversation = await conversationOf(asked.data);
    const answer = await conversation.hear(asked.data.input, program);
    const said = [answer.systemMessage, ...notices.splice(0)].filter((text) => text !== undefined);
    return context.json(said.length === 0 ? answer : { ...answer, systemMessage: said.join('\n') });
  });

  const endpoint = await listenApp(app, place);
  const file = join(dataDir, 'hooks.curl');
  const lines = [
    `# ${process.pid} ${startOf(process.pid)}`,
    `url = "${endpoint.url}/claude-code"`,
    `header = "authorization: Bearer ${token}"`,
    'header = "content-type: application/octet-stream"',
    // Nothing outside of this machine may see the token.
    'noproxy = "*"',
    `max-time = ${MAX_SECONDS}`,
    'silent',
    'fail',
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: PRIVATE_FILE });
  return {
    close: async () => {
      // If somebody deleted the directory, the file may belong to the next cloud by now.
      const said = await readFile(file, 'utf8').catch(() => '');
      if (said.includes(token)) await rm(file, { force: true });
      await endpoint.close();
      await prompts.close();
      // Whoever waits for it is told of a failure; there is nothing to close then.
      const loaded = await loading?.catch(() => undefined);
      await loaded?.walkback.close();
    },
  };
};
