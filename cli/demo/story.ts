/**
 * The demo's story, in order. It owns one session in one embedded cloud, and uses only the functions, the
 * `e2b` package for the agent's own commands, and the file system for the proof.
 */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Invoke } from '../../contract/invoke.ts';
import { plural } from '../../core/shared/plural.ts';
import { formatBytes } from '../../present/text.ts';
import { CliError } from '../failure.ts';
import type { LocalSandboxes } from '../sandboxes.ts';
import { timelineText } from '../view/timeline-print.ts';
import type { Comparison } from './fingerprint.ts';
import { formatSeconds, type Screen, timed } from './screen.ts';
import { compareAll, type Fingerprints, fingerprintAll, projectsOf, stateAt } from './states.ts';
import {
  BUILD_REPOSITORIES,
  GOOD_MESSAGE,
  INCLUDED,
  NEW_PATH,
  type Operation,
  PROJECTS_ROOT,
  REPOSITORIES,
  WORK,
} from './workspace.ts';

export const SESSION = 'demo';

export interface Stage {
  invoke: Invoke;
  sandboxes: LocalSandboxes;
  screen: Screen;
  now: () => Date;
}

export interface Proof {
  /** The state when the sandbox was killed, compared with the rehydrated one. */
  rehydrated: Comparison[];
  /** The state at the message that was rolled back to, compared with the one after the rollback. */
  rolledBack: Comparison[];
}

const begin = async ({ invoke, sandboxes, screen }: Stage): Promise<string> => {
  const { paint } = screen;
  screen.chapter('An agent gets a sandbox with four repositories');
  const sandboxId = await sandboxes.create({ 'walkback-demo': 'first' });
  // Commands start in the home directory.
  await sandboxes.run(sandboxId, `mkdir -p ${basename(PROJECTS_ROOT)}`);
  await sandboxes.run(sandboxId, BUILD_REPOSITORIES, PROJECTS_ROOT);
  const { ms } = await timed(() =>
    invoke('walkback-start-session', {
      sessionId: SESSION,
      sandboxId,
      projectsRoot: PROJECTS_ROOT,
      include: INCLUDED,
    }),
  );
  screen.line(`${paint.bold(REPOSITORIES.join(' · '))}  ${paint.dim(`in sandbox ${sandboxId}`)}`);
  screen.line(paint.dim('with history, symlinks, executables, 0600 files, an empty directory,'));
  screen.line(paint.dim('untracked, ignored, staged and unstaged work'));
  screen.line(
    `${paint.green('✔')} session ${SESSION} started, baseline taken ${paint.dim(formatSeconds(ms))}`,
  );
  return sandboxId;
};

/** A checkpoint before the operation with this tool id. It belongs to the last message whose work is there. */
const checkpointBefore = async ({ invoke }: Stage, messageId: string, tool: string): Promise<string> => {
  const { value, ms } = await timed(() =>
    invoke('walkback-checkpoint', {
      sessionId: SESSION,
      messageId,
      toolExecutionId: tool,
      reason: 'before-tool',
    }),
  );
  if (!value.complete) throw new CliError('CaptureFailed', `Checkpoint ${value.checkpointId} is incomplete.`);
  const bytes = value.repositories.reduce((sum, repository) => sum + repository.bundleBytes, 0);
  return `cp-${value.seq}  ${formatBytes(bytes).padStart(8)}  ${formatSeconds(ms)}`;
};

/** The agent works through the operations. Answers the states of the repositories after each message. */
const work = async (
  stage: Stage,
  sandboxId: string,
  operations: readonly Operation[],
  lastTool: string,
): Promise<Map<string, Fingerprints>> => {
  const states = new Map<string, Fingerprints>();
  for (const [index, { messageId, says, script }] of operations.entries()) {
    await stage.sandboxes.run(sandboxId, script, PROJECTS_ROOT);
    states.set(messageId, await fingerprintAll(stage.sandboxes, sandboxId));
    const note = await checkpointBefore(stage, messageId, operations[index + 1]?.tool ?? lastTool);
    stage.screen.operation({ messageId, says, note });
  }
  return states;
};

const showTimeline = async ({ invoke, screen, now }: Stage): Promise<void> => {
  const timeline = await invoke('walkback-timeline', { sessionId: SESSION, limit: 50 });
  screen.line();
  screen.block(timelineText(timeline, { paint: screen.paint, width: screen.width, now: now() }));
};

const killSandbox = async (stage: Stage, sandboxId: string): Promise<void> => {
  const { screen } = stage;
  const root = await projectsOf(stage.sandboxes, sandboxId);
  await stage.sandboxes.kill(sandboxId);
  if (existsSync(root)) throw new CliError('InternalError', `${root} is still there after the kill.`);
  screen.chapter('The sandbox is killed');
  screen.line(`${screen.paint.red('✘')} ${sandboxId} is gone, and every file in it with it`);
};

const rehydrate = async ({ invoke, screen }: Stage): Promise<string> => {
  screen.chapter('The session resumes in a fresh sandbox');
  const { value, ms } = await timed(() =>
    screen.progress('Rehydrating', () =>
      invoke('walkback-rehydrate', { sessionId: SESSION, mode: 'resume', requestId: 'demo-resume' }),
    ),
  );
  const count = plural(value.repositories.length, 'repository', 'repositories');
  screen.line(
    `${screen.paint.green('✔')} ${count} rebuilt from S3 in ${value.sandboxId} ${screen.paint.dim(formatSeconds(ms))}`,
  );
  screen.line(screen.paint.dim('as they were when it died: with the damage of msg-4, which is undone next'));
  return value.sandboxId;
};

const rollBack = async ({ invoke, screen }: Stage): Promise<void> => {
  const { paint } = screen;
  screen.chapter(`All repositories go back to ${GOOD_MESSAGE}, or none`);
  const { value, ms } = await timed(() =>
    screen.progress('Rolling back', () =>
      invoke('walkback-rollback', {
        sessionId: SESSION,
        messageId: GOOD_MESSAGE,
        requestId: 'demo-rollback',
      }),
    ),
  );
  for (const { path, written, deleted } of value.repositories) {
    screen.line(`${paint.bold(path.padEnd(6))} ${paint.dim(`${written} written, ${deleted} deleted`)}`);
  }
  screen.line(`${paint.green('✔')} rolled back and verified ${paint.dim(formatSeconds(ms))}`);
  screen.line(paint.dim(`left behind, still reachable: ${value.discardedMessageIds.join(', ')}`));
};

/** Tells the story; throws when a function does. The proof says whether everything came back. */
export const tellStory = async (stage: Stage): Promise<Proof> => {
  const first = await begin(stage);
  stage.screen.chapter('It works; before every operation, a checkpoint of all repositories');
  const states = await work(stage, first, WORK, NEW_PATH.tool);
  await showTimeline(stage);
  const beforeKill = await fingerprintAll(stage.sandboxes, first);
  await killSandbox(stage, first);
  const second = await rehydrate(stage);
  const afterRehydrate = await fingerprintAll(stage.sandboxes, second);
  await rollBack(stage);
  const afterRollback = await fingerprintAll(stage.sandboxes, second);
  stage.screen.chapter('The agent goes on, on a new path');
  await work(stage, second, [NEW_PATH], 'call-6');
  await showTimeline(stage);
  return {
    rehydrated: compareAll(beforeKill, afterRehydrate),
    rolledBack: compareAll(stateAt(states, GOOD_MESSAGE), afterRollback),
  };
};
