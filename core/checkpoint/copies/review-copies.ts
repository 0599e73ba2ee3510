/**
 * The sandboxes that rehydrates made and no session works in. The provider's key shows every sandbox of the
 * team, also those of other deployments. So a sandbox counts as a copy only when a rehydrate in this table
 * names it.
 *
 * A fork's sandbox is made by a review rehydrate too. It belongs to the fork from before the fork exists
 * until the fork has ended.
 */
import type { ListedCopy } from '../../../contract/checkpoint-answers.ts';
import { LONGEST_SECONDS } from '../../../contract/function-row.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { RehydrateJournal } from '../journals.ts';
import type { FoundSandbox, Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { isForkName, isVerifyName } from '../session/keys.ts';
import { sessionsBySandbox, usersOf } from './sandbox-users.ts';

/** A call that made a sandbox for a fork or a verification is over after this time, whatever its outcome. */
const CALL_MS = (LONGEST_SECONDS + 60) * 1000;

export interface CopiesDeps {
  store: SessionStore;
  sandboxes: Sandboxes;
  clock: Clock;
}

/** What a running sandbox is to Walkback. */
export type Standing =
  | { kind: 'foreign' }
  | { kind: 'used'; sessionId: string }
  | { kind: 'copy'; copy: ListedCopy; headSeq: number };

export const createReviewCopies = ({ store, sandboxes, clock }: CopiesDeps) => {
  /**
   * The session of the tags, or the fork of the request, when it works in this sandbox. Each is read again,
   * because a list of sessions may lag behind.
   */
  const userOf = async (sandboxId: string, names: readonly string[]): Promise<string | undefined> => {
    for (const name of names) {
      const session = await store.getSession(name);
      if (session?.status === 'active' && session.sandboxId === sandboxId) return name;
    }
    return undefined;
  };

  const isIdle = async (
    { phase, heldUntilMs = 0, requestId, startedAt }: RehydrateJournal,
    nowMs: number,
  ): Promise<boolean> => {
    if (phase !== 'done') return heldUntilMs <= nowMs;
    if (Date.parse(startedAt) + CALL_MS <= nowMs) return true;
    // Commands run in the copy of a verification. The sandbox of a fork exists before its fork does.
    if (isVerifyName(requestId)) return false;
    return !isForkName(requestId) || (await store.getSession(requestId)) !== undefined;
  };

  const standing = async (
    found: FoundSandbox,
    used: ReadonlyMap<string, readonly string[]>,
  ): Promise<Standing> => {
    const { sandboxId, tags } = found;
    const { 'walkback-session': sessionId, 'walkback-request': requestId } = tags;
    const [user] = usersOf(found, used);
    if (user !== undefined) return { kind: 'used', sessionId: user };
    if (sessionId === undefined || requestId === undefined) return { kind: 'foreign' };
    const journal = await store.getRehydrate(sessionId, requestId);
    if (journal?.sandboxId !== sandboxId) return { kind: 'foreign' };
    const named = await userOf(sandboxId, [sessionId, requestId]);
    if (named !== undefined) return { kind: 'used', sessionId: named };
    const copy = await store.getCopy(sessionId, sandboxId);
    const headSeq = copy?.headSeq ?? journal.targetSeq;
    const stands = await store.getCheckpoint(sessionId, headSeq);
    const session = await store.getSession(sessionId);
    const nowMs = clock.now().getTime();
    const isRolledBack = copy?.busy !== undefined && copy.busy.untilMs > nowMs;
    return {
      kind: 'copy',
      headSeq,
      copy: {
        sandboxId,
        sessionId,
        requestId,
        madeFor: isForkName(requestId) ? 'fork' : journal.mode,
        state: isRolledBack || !(await isIdle(journal, nowMs)) ? 'busy' : 'idle',
        checkpointId: stands?.checkpointId ?? null,
        messageId: stands?.messageId ?? null,
        projectsRoot: session?.projectsRoot ?? journal.result?.projectsRoot ?? null,
        startedAt: found.startedAt,
        endsAt: found.endsAt ?? null,
      },
    };
  };

  return {
    /** Every running sandbox with these tags, oldest first. */
    look: async (tags: Record<string, string>): Promise<{ sandboxId: string; standing: Standing }[]> => {
      const found = await sandboxes.find(tags);
      if (found.length === 0) return [];
      const used = await sessionsBySandbox(store);
      return Promise.all(
        found.map(async (one) => ({ sandboxId: one.sandboxId, standing: await standing(one, used) })),
      );
    },
  };
};
