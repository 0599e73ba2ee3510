/**
 * Says for each line of a file which checkpoint it came with, hence which message and tool call wrote it. Git blames in
 * the history that the timeline gives the captures, in the sandbox that holds them. Reads only: `now` is captured
 * in the shadows but not stored.
 */
import { type BlameAnswer, type BlameInput, MOST_BLAMED_LINES } from '../../../contract/blame.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { refName } from '../bisect/line.ts';
import type { BlameReport } from '../ports/blame.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { ExecutionAdapter, Sandboxes } from '../ports/sandbox.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { findTimeline, sandboxOf, type WorkTimeline } from '../session/place.ts';
import { withSandboxAdvice } from '../session/session-rules.ts';
import { linesThatFit, originsIn, originsThatFit } from './answer-room.ts';
import { createAskGit, type OwnedNode } from './ask-git.ts';
import { ambiguous, type Candidate, candidatesFor } from './candidates.ts';
import { historyNodes } from './history.ts';
import { MAX_FILE_BYTES, notThere, nowhere, pastTheEnd, withoutLines } from './no-lines.ts';
import { createOrigins, NOW } from './origins.ts';
import { createBlamePoint, type Point, pointWarnings, statesAt } from './point.ts';
import { type Ancestry, readAncestry } from './read-ancestry.ts';

interface BlameDeps {
  store: SessionStore;
  bundles: BundleStore;
  sandboxes: Sandboxes;
  repositories: Repositories;
  clock: Clock;
}

const READS_AT_ONCE = 4;

/** One call: where, when, and until when. */
interface Call {
  input: BlameInput;
  place: WorkTimeline;
  sandbox: ExecutionAdapter;
  point: Point;
  invocation: Invocation;
}

export const createBlame = (deps: BlameDeps) => {
  const { store, sandboxes, repositories, clock } = deps;
  const pointOf = createBlamePoint(deps);
  const askGit = createAskGit(deps);

  const nodesOf = async (
    { place, point }: Call,
    repository: string,
  ): Promise<{ ancestry: Ancestry; nodes: OwnedNode[] }> => {
    const { checkpoint, now } = point;
    const ancestry = await readAncestry(store, place.session, checkpoint, repository);
    const steps = [
      ...ancestry.ancestors,
      ...(now === undefined ? [] : [{ name: NOW, origins: [refName(checkpoint)] }]),
    ];
    const stateNow = now?.find(({ path }) => path === repository) ?? null;
    const nodes = historyNodes(steps, (step) =>
      step === NOW ? stateNow : ancestry.remembered.get(step)?.state,
    );
    const owners = new Map(ancestry.ancestors.map(({ name, stop }) => [name, stop.sessionId]));
    return {
      ancestry,
      nodes: nodes.map((node) => {
        const sessionId = owners.get(node.step);
        return { ...node, ...(sessionId !== undefined && { sessionId }) };
      }),
    };
  };

  const originsOf = (
    { place, point }: Call,
    { ancestry, nodes }: Awaited<ReturnType<typeof nodesOf>>,
    file: string,
    ownCommits: readonly string[],
  ) =>
    createOrigins(store, {
      ancestry,
      nodes,
      session: place.session,
      head: point.checkpoint,
      isCopy: place.copy !== undefined,
      file,
      ownCommits,
    });

  /** Undefined: the path is not there, and never was. */
  const blameIn = async (call: Call, candidate: Candidate): Promise<BlameAnswer | WalkbackError> => {
    const { input, place, point, sandbox, invocation } = call;
    const { repository, file } = candidate;
    const { sessionId, projectsRoot } = place.session;
    const history = await nodesOf(call, repository);
    const { nodes } = history;
    const last = nodes.at(-1);
    if (last === undefined) return notThere(candidate, point.words, undefined);
    const from = input.lines?.from ?? 1;
    const report = await askGit(sandbox, nodes, {
      sessionId,
      projectsRoot,
      path: repository,
      objectFormat: last.tree?.length === 64 ? 'sha256' : 'sha1',
      file,
      shallow: nodes.some(({ state, commit }) => commit !== undefined && state?.shallow === true),
      from,
      ...(input.lines?.to !== undefined && { to: input.lines.to }),
      mostLines: MOST_BLAMED_LINES,
      maxFileBytes: MAX_FILE_BYTES,
      timeoutMs: commandTimeout(invocation, clock),
    });
    if (report.kind === 'absent') {
      const removedBy = report.removedBy && (await originsOf(call, history, file, [])(report.removedBy));
      return notThere(candidate, point.words, removedBy);
    }
    if (report.kind !== 'lines') return withoutLines(candidate, report);
    return answerOf(call, candidate, history, report, from);
  };

  const answerOf = async (
    call: Call,
    { repository, file }: Candidate,
    history: Awaited<ReturnType<typeof nodesOf>>,
    report: Extract<BlameReport, { kind: 'lines' }>,
    from: number,
  ): Promise<BlameAnswer> => {
    const { place, point, input } = call;
    const { total, sources, ownCommits } = report;
    if (from > Math.max(1, total)) throw pastTheEnd(from, total);
    const told = linesThatFit(report.lines, from);
    const originOf = originsOf(call, history, file, ownCommits);
    const all = await mapAtOnce(sources.slice(0, originsIn(told)), READS_AT_ONCE, originOf);
    const origins = originsThatFit(all);
    const end = told.findIndex(({ origin }) => origin >= origins.length);
    const lines = end < 0 ? told : told.slice(0, end);
    const next = from + lines.length;
    const isAll = next > Math.min(input.lines?.to ?? total, total);
    return {
      sessionId: place.session.sessionId,
      repository,
      path: file,
      at: { checkpointId: point.checkpoint.checkpointId, isNow: point.now !== undefined },
      totalLines: total,
      origins: origins.slice(0, originsIn(lines)),
      lines,
      ...(!isAll && { nextLine: next }),
      warnings: pointWarnings(point, history.nodes, repository),
    };
  };

  const search = async (call: Call, others: readonly Candidate[]): Promise<Candidate[]> => {
    const { place, point, sandbox, invocation } = call;
    const { sessionId, projectsRoot } = place.session;
    const trees = new Map(statesAt(point).map(({ path, tree }) => [path, tree]));
    const looked = others.flatMap(({ repository }) => {
      const tree = trees.get(repository);
      return tree === undefined ? [] : [{ path: repository, tree }];
    });
    const [one] = others;
    if (one === undefined || looked.length === 0) return [];
    const found = await repositories.findFile(sandbox, {
      sessionId,
      projectsRoot,
      file: one.file,
      trees: looked,
      timeoutMs: commandTimeout(invocation, clock),
    });
    return others.filter(({ repository }) => found.includes(repository));
  };

  const answer = async (call: Call): Promise<BlameAnswer> => {
    const { input, point } = call;
    const { named, others } = candidatesFor(input, statesAt(point));
    const first = named && (await blameIn(call, named));
    if (first !== undefined && !isNotThere(first)) return thrown(first);
    const found = await search(call, others);
    const [only] = found;
    if (found.length > 1)
      throw ambiguous(
        input.path,
        found.map(({ repository }) => repository),
      );
    if (only !== undefined) return thrown(await blameIn(call, only));
    throw (
      first ??
      nowhere(
        input.path,
        others.map(({ repository }) => repository),
        point.words,
      )
    );
  };

  return async (input: BlameInput, invocation: Invocation): Promise<BlameAnswer> => {
    const place = await findTimeline(store, input.sessionId, input.sandboxId);
    return withSandboxAdvice(
      place.session,
      async () => {
        const sandbox = await sandboxes.open(sandboxOf(place));
        const point = await pointOf(input, place, sandbox, invocation);
        return answer({ input, place, sandbox, point, invocation });
      },
      sandboxOf(place),
      'blame',
    );
  };
};

const isNotThere = (result: BlameAnswer | WalkbackError): result is WalkbackError =>
  result instanceof WalkbackError && result.name === 'PathNotFound';

const thrown = (result: BlameAnswer | WalkbackError): BlameAnswer => {
  if (result instanceof WalkbackError) throw result;
  return result;
};
