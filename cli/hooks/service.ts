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
import { type ClaudeHookAnswer, type ClaudeHooks, createClaudeHooks } from '../../client/claude-hooks.ts';
import { hostSession } from '../../client/host-session.ts';
import type { CheckpointWarning, Session } from '../../client/index.ts';
import { Walkback } from '../../client/index.ts';
import { sameSecret } from '../../core/shared/same-secret.ts';
import { startOf } from '../../local/data-dir.ts';
import { listenApp } from '../../local/listen.ts';
import { PRIVATE_FILE } from '../../local/private-file.ts';
import { openBegunPrompts } from './begun-prompts.ts';

/** A checkpoint may take 15 minutes. The hook's own time-out is longer. */
const MAX_SECONDS = 910;

const hookInput = z.looseObject({
  session_id: z.string().min(1),
  hook_event_name: z.string(),
  prompt_id: z.string().optional(),
  prompt: z.string().optional(),
  tool_name: z.string().optional(),
  tool_input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
});

const inputText = z.string().transform((text, context): unknown => {
  try {
    const input: unknown = JSON.parse(text);
    // A host may write null for a missing value.
    return Object.fromEntries(Object.entries(input ?? {}).filter(([, value]) => value !== null));
  } catch {
    context.addIssue('The hook got something else than JSON');
    return z.NEVER;
  }
});

const askedSchema = z.object({
  root: z.string().min(1),
  sessionId: z.string(),
  mode: z.enum(['block', 'warn'], 'WALKBACK_ON_CHECKPOINT_ERROR must be block or warn'),
  input: inputText.pipe(hookInput),
});
type Asked = z.infer<typeof askedSchema>;

/**
 * What the hook's script sends: the project's directory, the session if one is named, the mode, and the
 * host's JSON.
 */
const partsOf = (body: string) => {
  const [root, sessionId, mode, ...input] = body.split('\0');
  return { root, sessionId, mode, input: input.join('\0') };
};

/** Whether the hook's script sent it, whatever the host gave to the script. */
const isOfScript = (body: string): boolean => body.split('\0').length > 3;

/** The event that the script was registered for. A script of an older release does not say. */
const EVENT_HEADER = 'walkback-event';

/**
 * Whether a tool waits for the answer. A request that names no event, in the host's JSON or by the script,
 * may come before a tool.
 */
const isBeforeTool = (body: string, event: string | undefined): boolean => {
  const { data } = inputText.pipe(hookInput.pick({ hook_event_name: true })).safeParse(partsOf(body).input);
  return (data?.hook_event_name ?? event ?? 'PreToolUse') === 'PreToolUse';
};

/** Given as an ordinary answer, because the script shows the person nothing of a refused request. */
const misread = (error: z.ZodError, body: string, event: string | undefined): ClaudeHookAnswer => {
  const reason = `No checkpoint, because Walkback cannot read what its hook sent. ${z.prettifyError(error)}`;
  const systemMessage = `Walkback: ${reason}`;
  if (partsOf(body).mode === 'warn' || !isBeforeTool(body, event)) return { systemMessage };
  return {
    systemMessage,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  };
};

const sessionFor = (walkback: Walkback, { root, sessionId, input }: Asked): Promise<Session> =>
  sessionId === ''
    ? hostSession(walkback, root, `claude-${input.session_id}`)
    : walkback.sessions.get(sessionId);

const told = ({ call, error }: CheckpointWarning): string =>
  `Walkback: ${call.name} runs without a checkpoint before it. ${String(error)}`;

export interface HookService {
  close(): Promise<void>;
}

/** Serves hooks beside the cloud of this directory until it is closed. */
export const startHookService = async (dataDir: string): Promise<HookService> => {
  const token = randomBytes(32).toString('hex');
  const walkback = new Walkback({ dataDir });
  /** Notices of the service itself, for the next request. */
  const notices: string[] = [];
  const promptsOf = openBegunPrompts(dataDir, (message) => void notices.push(`Walkback: ${message}`));
  const byHost = new Map<string, { hear: ClaudeHooks; warnings: string[] }>();

  const hooksOf = (asked: Asked) => {
    const { root, sessionId, mode, input } = asked;
    const key = [input.session_id, root, sessionId, mode].join('\0');
    const known = byHost.get(key);
    if (known !== undefined) return known;
    const warnings: string[] = [];
    const hear = createClaudeHooks(
      () => sessionFor(walkback, asked),
      {
        onCheckpointError: mode,
        onWarning: (warning) => void warnings.push(told(warning)),
      },
      promptsOf(input.session_id),
    );
    const made = { hear, warnings };
    byHost.set(key, made);
    return made;
  };

  const app = new Hono();
  app.post('/claude-code', async (context) => {
    if (!sameSecret(context.req.header('authorization'), `Bearer ${token}`)) return context.body(null, 401);
    const body = await context.req.text();
    const asked = askedSchema.safeParse(partsOf(body));
    if (!asked.success && !isOfScript(body)) return context.text(z.prettifyError(asked.error), 400);
    if (!asked.success) return context.json(misread(asked.error, body, context.req.header(EVENT_HEADER)));
    const { hear, warnings } = hooksOf(asked.data);
    const answer = await hear(asked.data.input);
    const systemMessage = [answer.systemMessage, ...notices.splice(0), ...warnings.splice(0)].filter(
      (text) => text !== undefined,
    );
    return context.json(
      systemMessage.length === 0 ? answer : { ...answer, systemMessage: systemMessage.join('\n') },
    );
  });

  const endpoint = await listenApp(app);
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
      await walkback.close();
    },
  };
};
