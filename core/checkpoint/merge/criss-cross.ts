/**
 * Two sessions that took each other's work, or that of two others, each by itself, have several last common
 * checkpoints. No one base tells then what changed on which side, so they are not merged. Pure.
 */
import { WalkbackError } from '../../shared/errors.ts';
import type { CheckpointRef } from '../model.ts';
import { mergeBases, type Timelines } from './merge-base.ts';

type Node = Timelines extends ReadonlyMap<string, readonly (infer One)[]> ? One : never;

interface Merge extends CheckpointRef {
  checkpointId: string;
}

/** The bases that are left when a revert takes one merge of `head`'s session back. */
const basesWithout = (
  timelines: Timelines,
  head: CheckpointRef,
  merge: CheckpointRef,
  bases: (timelines: Timelines, head: CheckpointRef) => CheckpointRef[],
): CheckpointRef[] => {
  const nodes = timelines.get(head.sessionId) ?? [];
  const seq = 1 + Math.max(...nodes.map((node) => node.seq));
  const last = nodes.find((node) => node.seq === head.seq);
  const revert: Node[] =
    last === undefined
      ? []
      : [{ seq, parentSeq: head.seq, checkpointId: '', createdAt: last.createdAt, takesBack: [merge.seq] }];
  return bases(new Map([...timelines, [head.sessionId, [...nodes, ...revert]]]), { ...head, seq });
};

/** The newest merge of `from`, else of `into`, without which one base is left. */
const mergeInTheWay = (timelines: Timelines, into: CheckpointRef, from: CheckpointRef): Merge | undefined => {
  const mergesOf = ({ sessionId }: CheckpointRef): Merge[] =>
    (timelines.get(sessionId) ?? [])
      .filter(({ mergedFrom }) => mergedFrom !== undefined)
      .map(({ seq, checkpointId }) => ({ sessionId, seq, checkpointId }))
      .toSorted((a, b) => b.seq - a.seq);
  const ofFrom = mergesOf(from).find(
    (merge) => basesWithout(timelines, from, merge, (all, head) => mergeBases(all, into, head)).length === 1,
  );
  return (
    ofFrom ??
    mergesOf(into).find(
      (merge) =>
        basesWithout(timelines, into, merge, (all, head) => mergeBases(all, head, from)).length === 1,
    )
  );
};

/** The refusal, with the merge to take back first. */
export const crissCross = (timelines: Timelines, into: CheckpointRef, from: CheckpointRef): WalkbackError => {
  const merge = mergeInTheWay(timelines, into, from);
  const advice =
    merge === undefined
      ? `Take back merges of "${from.sessionId}" with walkback revert, until one common checkpoint is left, and merge again.`
      : `Take back the merge ${merge.checkpointId} first (walkback revert ${merge.checkpointId} --session ${merge.sessionId}), and merge again; then merge the session that it came from by itself.`;
  return new WalkbackError(
    'InvalidInput',
    `from, into: sessions "${from.sessionId}" and "${into.sessionId}" have several last checkpoints in common, because each merged the same work by itself. ${advice}`,
    {
      details: {
        fields: ['from', 'into'],
        ...(merge !== undefined && { checkpointId: merge.checkpointId, sessionId: merge.sessionId }),
      },
    },
  );
};
