/** What a lead does with agents that work side by side: one function a step. run.ts plays them in order, and so does the demo. */
import { basename } from 'node:path';
import type { Answer, Session, Walkback } from 'walkback';
import { BUILD_SHOP, DEBUG, PROJECTS_ROOT } from './shop.ts';
import { type Agent, SHOP_WORKS } from './team.ts';

const LEAD = 'lead';

/** What this needs of a sandbox provider. */
export interface Sandboxes {
  create(tags: Record<string, string>): Promise<string>;
  /** Runs bash. Throws when it fails. */
  run(sandboxId: string, script: string, cwd?: string): Promise<void>;
  kill(sandboxId: string): Promise<unknown>;
}

export interface Lead {
  walkback: Walkback;
  sandboxes: Sandboxes;
}

/** A session and the sandbox that it works in. */
export interface WorkingSession {
  session: Session;
  sandboxId: string;
}

/** An agent in its fork. */
export interface Fork extends WorkingSession {
  agent: Agent;
  /** The checkpoint that it began at. */
  begin: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const openShop = async (
  { walkback, sandboxes }: Lead,
  sessionId?: string,
): Promise<WorkingSession> => {
  const sandboxId = await sandboxes.create({ 'walkback-example': 'changesets' });
  // The home directory is where commands start.
  await sandboxes.run(sandboxId, `mkdir -p ${basename(PROJECTS_ROOT)}`);
  await sandboxes.run(sandboxId, BUILD_SHOP, PROJECTS_ROOT);
  const session = await walkback.sessions.start({
    sandboxId,
    projectsRoot: PROJECTS_ROOT,
    ...(sessionId === undefined ? {} : { sessionId }),
  });
  return { session, sandboxId };
};

/** One message of the lead, in the session itself. */
export const debug = async ({ sandboxes }: Lead, { session, sandboxId }: WorkingSession): Promise<void> => {
  const { messageId, text, script } = DEBUG;
  const run = session.run({ message: { id: messageId, text } });
  await run.guard({ id: messageId, name: 'bash', input: { command: script } }, () =>
    sandboxes.run(sandboxId, script, PROJECTS_ROOT),
  );
  await run.finish();
};

/** A fork of the session for one agent, in a sandbox of its own. */
export const fork = async ({ session }: WorkingSession, agent: Agent): Promise<Fork> => {
  const made = await session.fork({ guidance: agent.task });
  return { agent, session: made.session, sandboxId: made.sandboxId, begin: made.checkpointId };
};

/** One turn of the agent: a checkpoint, its program, a checkpoint. Answers the last one. */
export const work = async (
  { sandboxes }: Lead,
  { agent, session, sandboxId }: Fork,
  told: string,
): Promise<string> => {
  const run = session.run({ message: { text: told } });
  const { messageId } = run;
  await run.guard({ id: `${messageId}-1`, name: 'bash', input: { command: agent.program } }, () =>
    sandboxes.run(sandboxId, `TOLD=${quoted(told)}\n${agent.program}`, PROJECTS_ROOT),
  );
  return (await run.finish()).checkpointId;
};

/** Whether the work is done: in a fresh copy, where nothing is but what the checkpoint holds. */
export const verify = ({ agent, session }: Fork): Promise<Answer<'verify-commitments'>> =>
  session.verify([SHOP_WORKS, agent.promise]);

/** The work goes back to where the fork began, and the agent begins again with what it is told now. */
export const redirect = async ({ session, agent, begin }: Fork, guidance: string): Promise<string> => {
  const rewound = await session.rewind({ to: { checkpointId: begin }, guidance, by: LEAD });
  if (rewound.status !== 'REWOUND') throw new Error(`The rewind of ${agent.name} is ${rewound.status}.`);
  return `${rewound.guidance ?? guidance}\n\n${agent.task}`;
};

/** Takes back what one message of the lead changed. What came since stays. */
export const takeBack = ({ session }: WorkingSession, messageId: string): Promise<Answer<'revert'>> =>
  session.revert({ messageId });

/** Ends the forks first; their checkpoints stay for their time. */
export const closeShop = async (
  { sandboxes }: Lead,
  { session, sandboxId }: WorkingSession,
  forks: readonly Fork[],
): Promise<void> => {
  await Promise.all(forks.map((each) => each.session.end({ discard: true })));
  await session.end();
  await sandboxes.kill(sandboxId);
};
