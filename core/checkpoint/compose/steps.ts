/** Reads the checkpoints that a composition names. */
import type { CheckpointRef, Composition, RepositoryState, Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { findTarget, halfWrittenWarnings } from '../timeline/targets.ts';
import type { States, Step } from './decide.ts';
import { type SelectedPaths, selectPaths } from './select-paths.ts';

interface Steps {
  steps: Step[];
  selected?: SelectedPaths;
  /** States that belong to other sessions, each with its session's id. */
  foreign: ReadonlyMap<RepositoryState, string>;
  /** Of the checkpoint that paths come from. */
  warnings: string[];
}

export const createCompositionSteps =
  ({ store }: { store: SessionStore }) =>
  async (session: Session, composition: Composition, now: States): Promise<Steps> => {
    const { sessionId } = session;
    const foreign = new Map<RepositoryState, string>();
    const statesAt = async (ref: CheckpointRef): Promise<States> => {
      const { repositories } = await findTarget(store, ref.sessionId, {}, ref.seq);
      if (ref.sessionId !== sessionId) for (const state of repositories) foreign.set(state, ref.sessionId);
      return repositories;
    };
    const ownAt = async (seq: number | null): Promise<States> =>
      seq === null ? now : statesAt({ sessionId, seq });
    const warnings: string[] = [];
    const ownTarget = async (seq: number): Promise<Pick<Step, 'theirs' | 'tag'>> => {
      const target = await findTarget(store, sessionId, {}, seq);
      if (composition.kind === 'paths') warnings.push(...halfWrittenWarnings(target));
      return { theirs: target.repositories, tag: target.toolExecutionId };
    };

    const read = async (): Promise<Step[]> => {
      switch (composition.kind) {
        case 'paths':
          return [{ base: now, ...(await ownTarget(composition.fromSeq)) }];
        case 'revert':
          return Promise.all(
            composition.changes.map(async ({ afterSeq, beforeSeq }) => ({
              base: await ownAt(afterSeq),
              ...(await ownTarget(beforeSeq)),
            })),
          );
        case 'merge': {
          const [base, theirs] = await Promise.all([statesAt(composition.base), statesAt(composition.from)]);
          return [{ base, theirs }];
        }
      }
    };

    const steps = await read();
    const { paths } = composition;
    const captured = [now, ...steps.flatMap(({ base, theirs }) => [base, theirs])].map((states) =>
      states.filter(({ state }) => state === 'captured').map(({ path }) => path),
    );
    const everywhere = captured.reduce((some, one) => some.filter((path) => one.includes(path)));
    return {
      steps,
      ...(paths !== undefined && {
        selected: selectPaths(paths, captured.flat(), new Set(everywhere)),
      }),
      foreign,
      warnings,
    };
  };
