/**
 * Walkback's own tools for an MCP client. They cannot see the client's other tools, and their instructions
 * say so.
 */
import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { isWalkbackError } from '../../client/errors.ts';
import type { Plan, Session } from '../../client/index.ts';
import manifest from '../../package.json' with { type: 'json' };

const INSTRUCTIONS =
  'Undo for the git repositories of this session. This server does not see calls of other tools, so nothing is captured by itself: ' +
  'call checkpoint before you change files. What was changed without one is captured by the next, as a whole. ' +
  'After StaleEpoch (somebody rolled back meanwhile, or an undo was made whose answer you did not get) call list, look at the files again, and go on. To go back: list, then plan, show the person the plan, then rollback with its planId. undo takes back the last rollback, redo makes it again.';

const MOST_PLANS = 50;
const MAX_TEXT = 60_000;

const answer = (value: unknown) => {
  const text = JSON.stringify(value, null, 2);
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n… cut: ask for less` : text;
  return { content: [{ type: 'text' as const, text: cut }] };
};

/** The model must see the name of an error too, because the instructions mention names. */
const named = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (!isWalkbackError(cause)) throw cause;
    throw new Error(`${cause.name}: ${cause.message}`, { cause });
  }
};

/** What a call gets beside its input. */
interface Asked {
  mcpReq: { signal: AbortSignal };
}

/** `openSession` is called for each call, because the cloud ends when nobody uses it. */
export const createMcpServer = (openSession: () => Promise<Session>): McpServer => {
  const server = new McpServer(
    { name: 'walkback', version: manifest.version },
    { instructions: INSTRUCTIONS },
  );
  const plans = new Map<string, Plan>();
  /** The epoch that the model was last told. Its requests are decided in that epoch. */
  let told: number | undefined;
  const tell = (epoch: number, { mcpReq }: Asked): void => {
    // Nobody gets the answer of a cancelled call.
    if (!mcpReq.signal.aborted) told = epoch;
  };
  const goBack = (way: 'undo' | 'redo') => (_: object, asked: Asked) =>
    named(async () => {
      const session = await openSession();
      told ??= session.epoch;
      const made = await session[way]({ epoch: told });
      tell(made.epoch, asked);
      return answer(made);
    });

  server.registerTool(
    'checkpoint',
    {
      description: 'Captures every repository of the session as it is now. Call it before you change files.',
      inputSchema: z.object({
        reason: z.string().max(100).optional().describe('what you are about to do, for people'),
      }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    },
    ({ reason }) =>
      named(async () =>
        answer(await (await openSession()).checkpoint({ reason: reason ?? 'asked for through MCP' })),
      ),
  );
  server.registerTool(
    'list',
    {
      description: 'Lists the newest checkpoints, with message and reason of each.',
      inputSchema: z.object({ limit: z.int().min(1).max(200).optional() }),
      annotations: { readOnlyHint: true },
    },
    ({ limit = 20 }, asked) =>
      named(async () => {
        const session = await openSession();
        // A model that reads where the session stands goes on from there, even after a rollback by somebody
        // else.
        await session.refresh();
        const { epoch } = session;
        const { checkpoints } = await session.timeline({ limit });
        tell(epoch, asked);
        return answer(
          checkpoints.map(({ checkpointId, messageId, reason, createdAt }) => ({
            checkpointId,
            messageId,
            reason,
            createdAt,
          })),
        );
      }),
  );
  server.registerTool(
    'diff',
    {
      description:
        'Compares two points: ids of checkpoints or messages, head (the newest checkpoint) or now.',
      inputSchema: z.object({
        from: z.string(),
        to: z.string().default('now'),
        path: z.string().optional().describe('one repository only'),
        stat: z.boolean().optional().describe('counts only'),
      }),
      annotations: { readOnlyHint: true },
    },
    ({ from, to, path, stat }) =>
      named(async () =>
        answer(
          await (await openSession()).diff({
            from,
            to,
            ...(path === undefined ? {} : { path }),
            ...(stat === undefined ? {} : { stat }),
          }),
        ),
      ),
  );
  server.registerTool(
    'plan',
    {
      description:
        'Says what going back to a checkpoint or message would change. Changes nothing; answers a planId.',
      inputSchema: z.object({ to: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ to }) =>
      named(async () => {
        const plan = await (await openSession()).plan({ to });
        plans.set(plan.requestId, plan);
        const [oldest] = plans.keys();
        if (plans.size > MOST_PLANS && oldest !== undefined) plans.delete(oldest);
        const { repositories, effects, discardedMessageIds, warnings } = plan;
        return answer({ planId: plan.requestId, repositories, effects, discardedMessageIds, warnings });
      }),
  );
  server.registerTool(
    'rollback',
    {
      description: 'Makes a plan: puts every repository back, all or none. Ask the person first.',
      inputSchema: z.object({ planId: z.string() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    },
    ({ planId }, asked) =>
      named(async () => {
        const plan = plans.get(planId);
        if (plan === undefined)
          throw new Error(`There is no plan ${planId} in this connection: call plan first.`);
        await openSession();
        const made = await plan.apply();
        tell(made.epoch, asked);
        return answer(made);
      }),
  );
  server.registerTool(
    'undo',
    {
      description: 'Takes back the last rollback that stands; called again, the one before it.',
      inputSchema: z.object({}),
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    goBack('undo'),
  );
  server.registerTool(
    'redo',
    {
      description: 'Makes the rollback again that undo took back last.',
      inputSchema: z.object({}),
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    goBack('redo'),
  );
  return server;
};
