/** Runs the command of a search in fresh copies of checkpoints, some of them side by side, and stores each verdict. */
import { ERRORS } from '../../../contract/errors.ts';
import { clip } from '../../shared/clip.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, type WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { Probe } from '../ports/searches.ts';
import type { CommandReport, Workspaces } from '../ports/workspace.ts';
import type { RehydrateDeps } from '../rehydrate/rehydrate.ts';
import { verifyNameOf } from '../session/keys.ts';
import { outputOf, wasEndedByTimeout } from '../workspace/command-report.ts';
import { createFreshCopy } from '../workspace/fresh-copy.ts';
import type { Point } from './line.ts';
import type { OpenJournal } from './search-journal.ts';

/** Time kept back for ending a command, storing its verdict, killing the copy and answering. */
export const RESERVE_MS = 20_000;
/** A copy of a small session takes about this long. */
const COPY_MS = 5_000;
const SKIP = 125;

/** Most characters of an error in a note. */
const NOTE = 300;

/** Says of one checkpoint that no copy of it can be made; others may have one. */
const isWithoutCopy = (error: unknown): error is WalkbackError =>
  isWalkbackError(error) &&
  !error.retryable &&
  (['RehydrateFailed', 'CheckpointNotFound'].includes(error.name) ||
    ERRORS[error.name].exitCode === 'notRestorable');

export interface Asked {
  command: string;
  repository?: string | undefined;
  timeoutSeconds: number;
  template?: string | undefined;
}

type Result = NonNullable<Probe['result']>;

/** The call has no time for the command any more: the next call goes on. */
class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
  readonly leftMs: number;

  constructor(leftMs: number) {
    super('out of time');
    this.leftMs = leftMs;
  }
}

const judge = (report: CommandReport, seconds: number): Result => {
  if (report.kind === 'no-directory') {
    return { verdict: 'skipped', exitCode: null, milliseconds: 0, note: 'the directory is not there' };
  }
  const { exitCode, milliseconds, tail } = report;
  const shown = { milliseconds, output: outputOf(report), isCut: tail !== undefined };
  if (wasEndedByTimeout(report, seconds)) {
    return {
      verdict: 'bad',
      exitCode: null,
      note: `it took longer than ${seconds} s, and was ended`,
      ...shown,
    };
  }
  if (exitCode === SKIP) return { verdict: 'skipped', exitCode, ...shown };
  return { verdict: exitCode === 0 ? 'good' : 'bad', exitCode, ...shown };
};

export const createProbe = (
  deps: RehydrateDeps & { workspaces: Pick<Workspaces, 'runCommand'>; clock: Clock },
) => {
  const { workspaces, clock, random, log } = deps;
  const copies = createFreshCopy(deps);
  const leftMs = ({ deadlineMs }: Invocation): number => deadlineMs - clock.now().getTime();

  const run = async (probe: Probe, asked: Asked, invocation: Invocation): Promise<Result> => {
    const { sessionId, checkpointId, copy: name } = probe;
    const { command, repository: directory = '.', timeoutSeconds: seconds, template } = asked;
    const copyOf = { sessionId, checkpointId, name, template };
    try {
      return await copies.use(copyOf, invocation, async (sandbox, { projectsRoot }) => {
        const left = leftMs(invocation);
        if (left < seconds * 1000 + RESERVE_MS) throw new OutOfTime(left);
        return judge(
          await workspaces.runCommand(sandbox, { projectsRoot, command, directory, seconds }),
          seconds,
        );
      });
    } catch (error) {
      if (!isWithoutCopy(error)) throw error;
      log.warn('no copy of a checkpoint', { sessionId, checkpointId, reason: String(error) });
      return {
        verdict: 'skipped',
        exitCode: null,
        milliseconds: 0,
        note: clip(`no copy of it can be made: ${error.message}`, NOTE),
      };
    }
  };

  return {
    leftMs,

    hasTime: ({ timeoutSeconds }: Asked, invocation: Invocation): boolean =>
      leftMs(invocation) >= timeoutSeconds * 1000 + RESERVE_MS + COPY_MS,

    /** Copies of probes that an earlier call began and did not end. */
    clear: async (journal: OpenJournal): Promise<void> => {
      const lost = journal.probes.filter(({ result }) => result === undefined);
      if (lost.length === 0) return;
      await Promise.all(lost.map(({ sessionId, copy }) => copies.clear({ sessionId, name: copy })));
      await journal.drop(new Set(lost.map(({ copy }) => copy)));
    },

    /** Answers how many verdicts came. `leftMs`: how little time a copy left for the command, when it was too little. */
    round: async (
      journal: OpenJournal,
      points: readonly Point[],
      asked: Asked,
      invocation: Invocation,
      { left, kept }: { left: number; kept: ReadonlySet<string> },
    ): Promise<{ ended: number; leftMs?: number }> => {
      const probes = points.map(({ sessionId, seq, checkpointId, state }): Probe => {
        return { sessionId, seq, checkpointId, state, copy: verifyNameOf(random()) };
      });
      await journal.begin(probes, left, kept);
      const ends = await Promise.allSettled(
        probes.map(async (probe) => journal.end(probe.copy, await run(probe, asked, invocation))),
      );
      const errors = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []));
      // Their copies are gone, so nobody has to look for them.
      const open = new Set(
        journal.probes.flatMap(({ copy, result }) => (result === undefined ? [copy] : [])),
      );
      if (open.size > 0) await journal.drop(open);
      const broken = errors.find((error) => !(error instanceof OutOfTime));
      if (broken !== undefined) throw broken;
      const late = errors.find((error) => error instanceof OutOfTime);
      return { ended: probes.length - errors.length, ...(late !== undefined && { leftMs: late.leftMs }) };
    },
  };
};
