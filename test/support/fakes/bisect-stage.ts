/** Searches for a fault on fakes: the command is a function of the files in the copy. */
import { type BisectDeps, createBisect } from '../../../core/checkpoint/bisect/bisect.ts';
import type { CommandReport } from '../../../core/checkpoint/ports/workspace.ts';
import { createFakeSearches } from './fake-searches.ts';
import { type Counter, createCounter } from './faults.ts';
import { createNewStage, SANDBOX, SESSION, type Stage } from './stage.ts';

type Files = Record<string, Record<string, string>>;

/** How the command ends in a copy with these files: an exit code, or a report. */
export type Judge = (files: Files) => number | CommandReport;

export interface BisectStage {
  stage: Stage;
  searches: ReturnType<typeof createFakeSearches>;
  /** Sandboxes beside those of sessions. */
  copies: () => string[];
  /** How long each sandbox lives that was made. */
  lives: number[];
  /** Files of each copy in which the command was run, in that order. */
  ran: Files[];
  /** Most copies at the same time. */
  most: () => number;
  /** Writes a file and takes a checkpoint for the next message. */
  work: (
    message: string,
    file: string,
    text: string,
    more?: { sessionId?: string; sandboxId?: string },
  ) => Promise<string>;
  bisect: (
    input?: Partial<Parameters<ReturnType<typeof createBisect>>[0]>,
    options?: { counter?: Counter; limitMs?: number },
  ) => ReturnType<ReturnType<typeof createBisect>>;
}

export const LIMIT_MS = 900_000;

export const createBisectStage = async (
  judge: Judge,
  { tookMs = 5, copyMs = 0 }: { tookMs?: number; copyMs?: number } = {},
): Promise<BisectStage> => {
  const stage = createNewStage();
  const searches = createFakeSearches();
  const known = new Set([SANDBOX]);
  const ran: Files[] = [];
  const lives: number[] = [];
  const made = { ...stage.world.sandboxes };
  stage.world.sandboxes.create = async (wanted) => {
    lives.push(wanted.timeoutMs);
    stage.passMs(copyMs);
    return made.create(wanted);
  };
  let atOnce = 0;
  let most = 0;

  const runCommand: BisectDeps['workspaces']['runCommand'] = async ({ sandboxId }) => {
    const files = stage.world.filesOf(sandboxId);
    ran.push(files);
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    stage.passMs(tookMs);
    const ended = judge(files);
    return typeof ended === 'number'
      ? { kind: 'ended', exitCode: ended, milliseconds: tookMs, output: `exit ${ended}\n` }
      : ended;
  };

  await stage.instance().startSession();

  return {
    stage,
    searches,
    ran,
    lives,
    most: () => most,
    copies: () => [...stage.world.running.keys()].filter((sandboxId) => !known.has(sandboxId)),
    work: async (message, file, text, { sessionId = SESSION, sandboxId = SANDBOX } = {}) => {
      known.add(sandboxId);
      const [path = '', name = ''] = file.split('/');
      stage.edit(path, { [name]: text }, sandboxId);
      const { checkpointId } = await stage.instance().checkpoint(message, `after-${message}`, { sessionId });
      return checkpointId;
    },
    bisect: (input = {}, { counter = createCounter(), limitMs = LIMIT_MS } = {}) => {
      const { deps } = stage.instance(counter);
      const bisect = createBisect({
        ...deps,
        workspaces: counter.wrap('workspaces', { runCommand }),
        searches: counter.wrap('searches', searches),
      });
      const request = {
        sessionId: SESSION,
        command: 'npm test',
        timeoutSeconds: 60,
        requestId: 'b1',
        ...input,
      };
      return bisect(request, { deadlineMs: stage.clock.now().getTime() + limitMs });
    },
  };
};
