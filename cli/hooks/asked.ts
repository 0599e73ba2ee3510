/** What the hook's script sends, and what it is told when that cannot be read. */
import * as z from 'zod';
import type { ClaudeHookAnswer } from '../../client/claude-hooks.ts';

const hookInput = z.looseObject({
  session_id: z.string().min(1),
  hook_event_name: z.string(),
  prompt_id: z.string().optional(),
  prompt: z.string().optional(),
  command_name: z.string().optional(),
  command_args: z.string().optional(),
  tool_name: z.string().optional(),
  tool_input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
});
export type HookInput = z.infer<typeof hookInput>;

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
export type Asked = z.infer<typeof askedSchema>;

/**
 * What the hook's script sends: the project's directory, the session if one is named, the mode, and the
 * host's JSON.
 */
const partsOf = (body: string) => {
  const [root, sessionId, mode, ...input] = body.split('\0');
  return { root, sessionId, mode, input: input.join('\0') };
};

/** Whether the hook's script sent it, whatever the host gave to the script. */
export const isOfScript = (body: string): boolean => body.split('\0').length > 3;

export const readAsked = (body: string): z.ZodSafeParseResult<Asked> => askedSchema.safeParse(partsOf(body));

/**
 * The event of the host's JSON, else the one that the script was registered for. A request without either may
 * come before a tool.
 */
const eventOf = (body: string, event: string | undefined): string => {
  const { data } = inputText.pipe(hookInput.pick({ hook_event_name: true })).safeParse(partsOf(body).input);
  return data?.hook_event_name ?? event ?? 'PreToolUse';
};

/** Given as an ordinary answer, because the script shows the person nothing of a refused request. */
export const misread = (error: z.ZodError, body: string, event: string | undefined): ClaudeHookAnswer => {
  const reason = `No checkpoint, because Walkback cannot read what its hook sent. ${z.prettifyError(error)}`;
  const systemMessage = `Walkback: ${reason}`;
  const isBeforeTool = eventOf(body, event) === 'PreToolUse';
  if (partsOf(body).mode === 'warn' || !isBeforeTool) return { systemMessage };
  return {
    systemMessage,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  };
};
