/**
 * The desks of the agents: a sandbox with two repositories for each, and a session of checkpoints over them. An agent
 * is a script here; what it does to its desk is real, and is taken back by a rollback.
 */
import { basename } from 'node:path';
import type { Invoke } from '../../contract/invoke.ts';

/** What the desks need of a sandbox provider. */
interface DeskSandboxes {
  create(tags: Record<string, string>): Promise<string>;
  /** Throws when the script fails. */
  run(sandboxId: string, script: string, cwd?: string): Promise<void>;
}

export const DESK_ROOT = '/home/user/desk';
export const DESK_REPOSITORIES = ['letters', 'notes'] as const;

/** One piece of work: what is written, and the id under which it is captured, found and taken back. */
interface Work {
  id: string;
  orderId: string;
  /** What the agent was told by a person. */
  guidance?: string;
}

export interface Desk {
  agent: string;
  sandboxId: string;
  sessionId: string;
  /** A checkpoint before the work with this id. The same id answers the same checkpoint. */
  capture(work: Work): Promise<string>;
  /** Done once for each id, however often it is called. */
  write(work: Work): Promise<void>;
  /** Takes the work with this id back. Answers the checkpoint, or undefined when it was never begun. */
  takeBack(id: string): Promise<string | undefined>;
}

const BUILD = `set -eu
for repository in ${DESK_REPOSITORIES.join(' ')}; do
  git init -q -b main $repository
  git -C $repository config user.name 'Desk Agent' && git -C $repository config user.email agent@example.com
  printf '%s of one agent\\n' $repository > $repository/README
  git -C $repository add -A && git -C $repository commit -q -m 'Begin'
done`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The commit comes last and carries the id, so a script that was cut off is run again and one that was not is skipped. */
const scriptOf = ({ id, orderId, guidance }: Work): string => `set -eu
if git -C letters log --format=%B | grep -qxF ${quoted(id)}; then exit 0; fi
printf 'We take back order %s.\\n' ${quoted(orderId)} > letters/credit-note.txt
printf '%s\\n' ${quoted(guidance ?? 'nobody said anything')} > notes/guidance.txt
git -C letters add -A
git -C letters commit -q -m 'Write the credit note' -m ${quoted(id)}`;

export interface DeskDependencies {
  invoke: Invoke;
  sandboxes: DeskSandboxes;
}

export const openDesk = async ({ invoke, sandboxes }: DeskDependencies, agent: string): Promise<Desk> => {
  const sessionId = `desk-${agent}`;
  const sandboxId = await sandboxes.create({ 'walkback-example': agent });
  // The home directory is where commands start.
  await sandboxes.run(sandboxId, `mkdir -p ${basename(DESK_ROOT)}`);
  await sandboxes.run(sandboxId, BUILD, DESK_ROOT);
  await invoke('walkback-start-session', { sessionId, sandboxId, projectsRoot: DESK_ROOT });
  return {
    agent,
    sandboxId,
    sessionId,
    capture: async ({ id }) => {
      const { checkpointId } = await invoke('walkback-checkpoint', {
        sessionId,
        forMessageId: 'assigned',
        toolExecutionId: id,
        reason: 'before-tool',
      });
      return checkpointId;
    },
    write: (work) => sandboxes.run(sandboxId, scriptOf(work), DESK_ROOT),
    takeBack: async (id) => {
      const { checkpoints } = await invoke('walkback-timeline', { sessionId, limit: 200 });
      const before = checkpoints.find(({ toolExecutionId }) => toolExecutionId === id);
      if (before === undefined) return undefined;
      const { checkpointId } = before;
      await invoke('walkback-rollback', { sessionId, checkpointId, requestId: `undo-${id}` });
      return checkpointId;
    },
  };
};
