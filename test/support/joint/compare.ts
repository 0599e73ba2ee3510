/** What must hold at the end: of the sagas, of the timeline, and of what was merged. */
import type { Checkpoint } from '../../../core/checkpoint/model.ts';
import { idempotencyKey } from '../../../core/saga/model/keys.ts';
import type { EffectRecord } from '../../../core/saga/model/state.ts';
import type { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import { mergeQueue } from '../../../tools/templates/merge-queue.ts';
import { isSound } from '../book/compare.ts';
import type { Tally } from '../book/tally.ts';
import type { Stage } from '../fakes/stage.ts';
import { SANDBOX } from '../fakes/stage.ts';
import type { Entry, Fork } from './agents.ts';
import type { Provider } from './tools.ts';
import type { Files, Views } from './views.ts';

interface CompareDependencies {
  stage: Stage;
  views: Views;
  memory: ReturnType<typeof memorySagaStore>;
  provider: Provider;
  tally: Tally;
  forks: readonly Fork[];
  entries: readonly Entry[];
}

const APPLY = mergeQueue.plan.steps.findIndex(({ id }) => id === 'apply');
const GONE = ['undone', 'rejected'];
/** Only these bring work of forks or take it away. */
const MOVING = ['merge', 'revert'];

/** In how many repositories each fork's file is. */
const forksIn = (files: Files, forks: readonly Fork[]): Map<string, number> =>
  new Map(
    forks.map(({ name }) => [name, [...files.keys()].filter((file) => file.endsWith(`/${name}.txt`)).length]),
  );

const compareSagas = async ({ memory, provider, tally }: CompareDependencies): Promise<string[]> => {
  const found: string[] = [];
  for (const [sagaId, head] of memory.heads) {
    const { status, effects } = head.state;
    tally.count(`${sagaId.replace(/\d+$/, '')} ${status}`);
    if (status !== 'COMPLETED' && status !== 'COMPENSATED') found.push(`${sagaId} ends as ${status}`);
    if (!isSound(head, await memory.store.listEntries(sagaId)))
      found.push(`the ledger of ${sagaId} is not sound`);
    for (const effect of effects) {
      const key = idempotencyKey(sagaId, effect.step, effect.epoch);
      if (provider.stands(key) && GONE.includes(effect.status))
        found.push(`${key} stands and is ${effect.status}`);
      if (provider.lacks(key) && effect.status === 'committed')
        found.push(`${key} is committed and does not stand`);
    }
  }
  return found;
};

const compareTimeline = ({ stage, views, forks, tally }: CompareDependencies): string[] => {
  const found: string[] = [];
  const all = views.checkpoints();
  const bySeq = new Map(all.map((one) => [one.seq, one]));
  const targets = new Set(views.targets());
  const differ = (one: Checkpoint, before: Checkpoint): string[] => {
    const [mine, theirs] = [views.filesAt(one), views.filesAt(before)];
    if (mine === undefined || theirs === undefined) return [];
    const [now, then] = [forksIn(mine, forks), forksIn(theirs, forks)];
    return forks.map(({ name }) => name).filter((name) => now.get(name) !== then.get(name));
  };
  for (const one of all) {
    if (MOVING.includes(one.reason)) tally.count(`${one.reason} checkpoint`);
    const before = one.parentSeq === null ? undefined : bySeq.get(one.parentSeq);
    if (one.parentSeq !== null && before === undefined) found.push(`checkpoint ${one.seq} follows on none`);
    if (before === undefined || MOVING.includes(one.reason) || !targets.has(one)) continue;
    const names = differ(one, before);
    if (names.length > 0) found.push(`checkpoint ${one.seq} (${one.reason}) brings or loses ${names.join()}`);
  }
  const session = stage.session();
  if (session.busy !== undefined) found.push('the session is held');
  if (bySeq.get(session.headSeq)?.toolExecutionId !== 'end')
    found.push('the session does not stand at its end');
  return found;
};

const isApplied = ({ step, status }: EffectRecord): boolean => step === APPLY && status === 'undone';

/** When the files went somewhere for the last time that was no merge and no revert. */
const lastWentAt = ({ views }: CompareDependencies): string =>
  views
    .journals()
    .filter(
      ({ composition, phase, settled }) =>
        composition === undefined && (phase === 'done' || settled !== undefined),
    )
    .map(({ updatedAt }) => updatedAt)
    .toSorted()
    .at(-1) ?? '';

const compareMerges = async (dependencies: CompareDependencies): Promise<string[]> => {
  const { stage, views, memory, tally, forks, entries } = dependencies;
  const found: string[] = [];
  const there = forksIn(views.filesNow(), forks);
  for (const { name, repositories } of forks) {
    const count = there.get(name) ?? 0;
    if (count > 0 && count !== repositories)
      found.push(`${name} is in ${count} of ${repositories} repositories`);
  }
  const wentAt = lastWentAt(dependencies);
  const begun = entries.flatMap((entry) => {
    const head = memory.heads.get(entry.sagaId);
    return head === undefined ? [] : [{ ...entry, head, status: head.state.status }];
  });
  for (const { name } of forks) {
    const mine = begun.filter((entry) => entry.forks.some((fork) => fork.name === name));
    const isSkipped = mine.some(({ head }) => head.state.effects.some(({ status }) => status === 'skipped'));
    if (mine.length === 0 || isSkipped || mine.some(({ head }) => head.createdAt <= wentAt)) continue;
    tally.count('merges compared');
    const isMerged = mine.some(({ status }) => status === 'COMPLETED');
    // One that began while it was there brought nothing, and what another brought was undone since.
    const undone = mine.filter(
      ({ status, head }) => status === 'COMPENSATED' && head.state.effects.some(isApplied),
    );
    const ends = await Promise.all(undone.map(async ({ sagaId }) => memory.store.listEntries(sagaId)));
    const undoneAt =
      ends
        .map((all) => all.at(-1)?.at ?? '')
        .toSorted()
        .at(-1) ?? '';
    const isAgain = mine.some(({ status, head }) => status === 'COMPLETED' && head.createdAt > undoneAt);
    if (undone.length > 0) tally.count(isAgain ? 'merged again' : 'undone');
    if (isMerged && !isAgain) continue;
    if (isMerged !== (there.get(name) ?? 0) > 0) {
      const said = mine.map(({ sagaId, status }) => `${sagaId} ${status}`).join();
      found.push(`${name} is ${isMerged ? 'not there' : 'there'}: ${said}`);
    }
  }
  const known = new Set([SANDBOX, ...forks.map(({ sandboxId }) => sandboxId)]);
  for (const { sessionId, sandboxId, status } of stage.store.tables.sessions.values())
    if (!known.has(sandboxId) && status === 'active') found.push(`staging fork ${sessionId} is left`);
  return found;
};

export const compareJoint = async (dependencies: CompareDependencies): Promise<string[]> => [
  ...(await compareSagas(dependencies)),
  ...compareTimeline(dependencies),
  ...(await compareMerges(dependencies)),
];
