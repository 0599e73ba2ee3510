/** What a session holds, seen without the code under test. */
import type { Checkpoint } from '../../../core/checkpoint/model.ts';
import type { Stage } from '../fakes/stage.ts';
import { SANDBOX, SESSION } from '../fakes/stage.ts';

/** By `repository/file`. */
export type Files = ReadonlyMap<string, string>;

const flat = (repositories: Iterable<readonly [string, Record<string, string>]>): Files =>
  new Map(
    [...repositories].flatMap(([path, files]) =>
      Object.entries(files).map(([name, text]): [string, string] => [`${path}/${name}`, text]),
    ),
  );

export const createViews = (stage: Stage) => {
  const checkpoints = (): Checkpoint[] =>
    stage.checkpoints().filter(({ sessionId }) => sessionId === SESSION);
  const journals = () =>
    [...stage.store.tables.rollbacks.values()].filter(({ sessionId }) => sessionId === SESSION);

  /** Undefined where no sandbox has it any more. */
  const filesAt = ({ repositories }: Checkpoint): Files | undefined => {
    const sandboxes = [...stage.world.running.values()];
    const found: [string, Record<string, string>][] = [];
    for (const state of repositories) {
      if (state.state !== 'captured') continue;
      const name = `${state.path}\n${state.tree}\n${state.meta}`;
      const snapshot = sandboxes.map(({ snapshots }) => snapshots.get(name)).find((one) => one !== undefined);
      if (snapshot === undefined) return undefined;
      found.push([state.path, snapshot.repository.files]);
    }
    return flat(found);
  };

  return {
    checkpoints,
    journals,
    filesAt,
    filesNow: (): Files => flat(Object.entries(stage.world.filesOf(SANDBOX))),
    /** On the way to it, itself included. */
    wayTo: (seq: number): Checkpoint[] => {
      const bySeq = new Map(checkpoints().map((one) => [one.seq, one]));
      const way: Checkpoint[] = [];
      for (let at = bySeq.get(seq); at !== undefined && !way.includes(at); at = bySeq.get(at.parentSeq ?? 0))
        way.unshift(at);
      return way;
    },
    /** Where people may go. A rollback that is carried on captures what is half written too; nobody goes there. */
    targets: (): Checkpoint[] => {
      const undo = new Set(journals().map(({ undoSeq }) => undoSeq));
      return checkpoints().filter(({ reason, seq }) => reason !== 'rollback' || undo.has(seq));
    },
  };
};

export type Views = ReturnType<typeof createViews>;
