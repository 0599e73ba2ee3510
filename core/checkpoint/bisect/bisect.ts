/**
 * Finds the message that broke something: a binary search over the checkpoints between a good and a bad one. Each probe
 * is a command in a fresh copy (W6), and a few run side by side. What was tried is stored, so the same request
 * goes on where a call ended, and is answered again without a copy.
 */
import type { BisectSessionAnswer, BisectSessionInput } from '../../../contract/bisect.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { timeSortableId } from '../../shared/ids.ts';
import { plural } from '../../shared/plural.ts';
import type { Probe, SearchStore } from '../ports/searches.ts';
import type { Workspaces } from '../ports/workspace.ts';
import type { RehydrateDeps } from '../rehydrate/rehydrate.ts';
import { requireSession } from '../session/session-rules.ts';
import { createBeginSearch } from './begin-search.ts';
import { changingPoints, type Point, refName } from './line.ts';
import { type Asked, createProbe, RESERVE_MS } from './probe.ts';
import { createReadLine, type ReadLine } from './read-line.ts';
import { nextStep, type Step, type Verdict } from './search.ts';
import { createSearchJournal, type OpenJournal } from './search-journal.ts';
import { type Change, createSuspects, triedOf, triedWithOutput } from './suspects.ts';
import { wrongEnd } from './wrong-points.ts';

export type BisectDeps = RehydrateDeps & {
  workspaces: Pick<Workspaces, 'runCommand'>;
  searches: SearchStore;
};

/** Copies at the same time: these divide what is left into quarters. */
const AT_ONCE = 3;
/** Most checkpoints that one search tries. Only one with very many that are skipped needs more. */
const MOST_PROBES = 150;
/** Most candidates that an answer lists. */
const MOST_SUSPECTS = 50;
/** Each checkpoint has at most 400 KB. */
const READS_AT_ONCE = 4;

type Ended = Exclude<Step, { kind: 'probe' }>;
type WrongEnd = Extract<Step, { kind: 'wrong-end' }> & { point: Point };

/** What the search on one line came to. */
interface LineResult {
  kind: 'found' | 'left';
  suspects: Change[];
  through: Change[];
  good: Point;
  bad: Point;
  note?: string;
}

/** One call of a search. */
interface Call {
  requestId: string;
  asked: Asked;
  journal: OpenJournal;
  reading: ReadLine;
  invocation: Invocation;
  /** Verdicts that came in this call. */
  ended: number;
  /** States whose outputs the answer may need, beside those of the line that is searched now. */
  kept: Set<string>;
}

const goesOn = ({ requestId, journal }: Call): WalkbackError =>
  new WalkbackError(
    'StillRunning',
    `The search goes on: ${plural(journal.probes.length, 'checkpoint')} of it were tried, and the time of this call is over. Send the same request again, with requestId "${requestId}".`,
    { details: { requestId } },
  );

const expired = (requestId: string): WalkbackError =>
  new WalkbackError(
    'CheckpointNotFound',
    `The checkpoints of search "${requestId}" are gone: their retention is over. Use a new requestId for another search.`,
    { details: { requestId } },
  );

const tooLong = (seconds: number, leftMs: number): WalkbackError =>
  new WalkbackError(
    'InvalidInput',
    `timeoutSeconds: with the copies made, one call has no time for a command of ${seconds} s. Give at most ${Math.max(1, Math.floor((leftMs - RESERVE_MS) / 1000))}.`,
    { details: { fields: ['timeoutSeconds'] } },
  );

/** A call that came to nothing would come to nothing again. */
const outOfTime = (call: Call, leftMs: number): WalkbackError =>
  call.ended === 0 ? tooLong(call.asked.timeoutSeconds, leftMs) : goesOn(call);

const resultAt = ({ state }: Point, journal: OpenJournal): Probe['result'] =>
  journal.probes.find((probe) => probe.state === state && probe.result !== undefined)?.result;

const verdictAt = (point: Point, journal: OpenJournal): Verdict | undefined =>
  point.unfit === undefined ? resultAt(point, journal)?.verdict : 'skipped';

const statesAt = (line: readonly Point[], places: readonly number[]): string[] =>
  places.flatMap((at) => line[at]?.state ?? []);

const pointOf = (line: readonly Point[], at: number): Point => {
  const point = line[at];
  if (point === undefined) throw new WalkbackError('InternalError', 'a search left its line');
  return point;
};

/** `all`: also the points at which nothing changed. */
const changeAt = (point: Point, all: readonly Point[]): Change => ({
  point,
  before: pointOf(all, all.indexOf(point) - 1),
});

/** Why a merge is what broke it, and nothing that it brought. */
const mergeNote = ({ at, verdict }: WrongEnd): string => {
  if (verdict === 'skipped') return 'What was merged could not be judged by itself.';
  return at === 0
    ? 'What was merged was bad already where it began, so the merge is what brought it.'
    : 'What was merged is good by itself: it broke together with the work that it was merged into.';
};

export const createBisect = (deps: BisectDeps) => {
  const { store, clock, random } = deps;
  const begin = createBeginSearch(deps);
  const probing = createProbe(deps);

  /** Probes the line until there is nothing more to try. */
  const searchLine = async (line: readonly Point[], call: Call): Promise<Ended> => {
    const { journal, asked, invocation } = call;
    for (;;) {
      const step = nextStep(
        line.map((point) => verdictAt(point, journal)),
        AT_ONCE,
      );
      if (step.kind !== 'probe') return step;
      const { good, bad, points } = step;
      if (journal.probes.length >= MOST_PROBES) {
        const isOpen = [good, bad].some((at) => verdictAt(pointOf(line, at), journal) === undefined);
        return isOpen ? { kind: 'wrong-end', at: good, verdict: 'skipped' } : { kind: 'left', good, bad };
      }
      if (!probing.hasTime(asked, invocation)) throw outOfTime(call, probing.leftMs(invocation));
      // A state that is on the line twice is tried once.
      const chosen = new Map(points.map((at) => [pointOf(line, at).state, pointOf(line, at)]));
      const { ended, leftMs } = await probing.round(journal, [...chosen.values()], asked, invocation, {
        left: bad - good,
        kept: new Set([...call.kept, ...statesAt(line, [0, good, bad, line.length - 1])]),
      });
      call.ended += ended;
      if (leftMs !== undefined) throw outOfTime(call, leftMs);
    }
  };

  /** Searches a line and, where a merge is what broke it, the line of what that merge brought. */
  const follow = async (
    all: readonly Point[],
    through: Change[],
    call: Call,
  ): Promise<LineResult | WrongEnd> => {
    const line = changingPoints(all);
    const step = await searchLine(line, call);
    if (step.kind === 'wrong-end') return { ...step, point: pointOf(line, step.at) };
    const suspects = line.slice(step.good + 1, step.bad + 1).map((point) => changeAt(point, all));
    const [good, bad] = [pointOf(line, step.good), pointOf(line, step.bad)];
    const isSpent = step.kind === 'left' && call.journal.probes.length >= MOST_PROBES;
    const found: LineResult = {
      kind: step.kind,
      suspects,
      through,
      good,
      bad,
      ...(isSpent && { note: `One search tries at most ${MOST_PROBES} checkpoints.` }),
    };
    const [suspect] = suspects;
    const isOne = step.kind === 'found' && suspect !== undefined;
    const source = isOne ? await call.reading.sourceOf(bad, suspect.before) : undefined;
    if (suspect === undefined || source === undefined) return found;
    for (const { state } of [good, bad]) call.kept.add(state);
    const deeper = await follow(source, [...through, suspect], call);
    return deeper.kind === 'wrong-end' ? { ...found, note: mergeNote(deeper) } : deeper;
  };

  const told = (point: Point, journal: OpenJournal) => {
    const result = resultAt(point, journal);
    if (result === undefined) throw new WalkbackError('InternalError', 'an edge of a search was not tried');
    return triedWithOutput(point, result);
  };

  const answerOf = async (
    found: LineResult,
    all: readonly Point[],
    call: Call,
  ): Promise<BisectSessionAnswer> => {
    const { requestId, journal } = call;
    const { kind, suspects, through, good, bad, note } = found;
    const suspectOf = createSuspects(store);
    const listed = suspects.slice(0, MOST_SUSPECTS);
    const left = suspects.length - listed.length;
    return {
      sessionId: pointOf(all, all.length - 1).sessionId,
      requestId,
      outcome: kind === 'found' ? 'found' : 'candidates',
      suspects: await mapAtOnce(listed, READS_AT_ONCE, suspectOf),
      ...(left > 0 && { suspectsNotListed: left }),
      through: await mapAtOnce(through, READS_AT_ONCE, suspectOf),
      good: told(good, journal),
      bad: told(bad, journal),
      tried: journal.probes.flatMap(triedOf),
      checkpoints: all.length,
      ...(note !== undefined && { note }),
    };
  };

  return async (input: BisectSessionInput, invocation: Invocation): Promise<BisectSessionAnswer> => {
    const session = await requireSession(store, input.sessionId);
    const requestId = input.requestId ?? timeSortableId('bs', clock.now(), random());
    const reading = createReadLine(store, session, input);
    const begun = await begin(session, input, requestId, reading);
    const journal = createSearchJournal(deps, begun);
    await probing.clear(journal);
    const asked: Asked = { ...input, template: input.template ?? session.template };
    const call: Call = { requestId, asked, journal, reading, invocation, ended: 0, kept: new Set() };
    const stops = await reading.stopsTo(begun.bad);
    const first = stops.findIndex((stop) => refName(stop) === refName(begun.good));
    // Where retention has removed the good point since, the oldest that is left stands for it.
    const all = await reading.pointsOf(stops.slice(Math.max(0, first)));
    if (changingPoints(all).length < 2) throw expired(requestId);
    const found = await follow(all, [], call);
    if (found.kind !== 'wrong-end') return answerOf(found, all, call);
    const { at, point, verdict } = found;
    const result = resultAt(point, journal) ?? {
      verdict,
      exitCode: null,
      milliseconds: 0,
      note: point.unfit ?? '',
    };
    throw wrongEnd(at === 0 ? 'good' : 'bad', point, verdict, result);
  };
};
