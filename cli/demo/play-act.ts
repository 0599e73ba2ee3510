/** What each act works with, and what it leaves: its part of the JSON answer, and its proof. */
import type { Walkback } from '../../client/index.ts';
import { plural } from '../../core/shared/plural.ts';
import { changesetsAct } from '../../examples/changesets/act.ts';
import { NOT_CAPTURED as NOT_OF_THE_SHOP } from '../../examples/changesets/shop.ts';
import { gangAct } from '../../examples/gang/act.ts';
import { refundAct } from '../../examples/refund/act.ts';
import type { ActName } from './acts.ts';
import type { Comparison } from './fingerprint.ts';
import type { Providers } from './providers.ts';
import { type Stage, tellStory } from './story.ts';
import { GOOD_MESSAGE, NOT_CAPTURED } from './workspace.ts';

export interface ActStage extends Stage {
  /** Started by the first act that asks for them. */
  providers(): Promise<Providers>;
  /** The client, as an agent's backend would have it. */
  client(): Walkback;
  /** The directory of the embedded cloud, for what an act keeps on disk. */
  directory: string;
}

export interface Told {
  answer: Record<string, unknown>;
  proof: { title: string; comparisons: readonly Comparison[]; note?: string }[];
  /** What the providers and ledgers show at the end, one line each. */
  facts: string[];
}

const checkpoints = async (stage: ActStage): Promise<Told> => {
  const { rehydrated, rolledBack } = await tellStory(stage);
  return {
    answer: { rehydrated, rolledBack },
    proof: [
      { title: 'sandbox killed, then rehydrated', comparisons: rehydrated },
      {
        title: `at ${GOOD_MESSAGE}, then after the rollback in the other sandbox`,
        comparisons: rolledBack,
        note: `every path, mode, link and byte except ${NOT_CAPTURED.join(', ')}, which git ignores`,
      },
    ],
    facts: [],
  };
};

const refund = async (stage: ActStage): Promise<Told> => {
  const sagas = await refundAct({ ...stage, providers: await stage.providers() });
  return { answer: { sagas }, proof: [], facts: [] };
};

const gang = async (stage: ActStage): Promise<Told> => {
  const played = await gangAct({ ...stage, providers: await stage.providers() });
  const { effects, repeated, tickets, mails, refunds } = played.standing;
  return {
    answer: { gang: played },
    proof: [
      {
        title: 'desks before the work of an agent, then when it was taken back',
        comparisons: played.takenBack,
      },
      {
        title: 'the desk of the agent that went on, then when the others were taken back',
        comparisons: played.kept,
      },
    ],
    facts: [
      `providers: ${plural(effects, 'effect')} of that saga in all, ${repeated} of them twice`,
      `what stands: ${plural(Object.values(refunds).length, 'refund')}, one for each order, ${plural(tickets, 'ticket')}, ${plural(mails, 'mail')}`,
      `${plural(played.ledgers.sagas, 'ledger')}, ${plural(played.ledgers.entries, 'entry', 'entries')}: whole, and they name each other`,
    ],
  };
};

const changesets = async (stage: ActStage): Promise<Told> => {
  const played = await changesetsAct({ ...stage, walkback: stage.client() });
  const { places, first, second, mended, takenBack, verified, entries } = played;
  const conflicts = entries.filter(({ error }) => error === 'ChangesetConflict');
  return {
    answer: { changesets: played },
    proof: [
      {
        title: 'forks and the session beside them, and what was verified, then applied',
        comparisons: places,
        note: `all repositories together, without ${NOT_OF_THE_SHOP}, which git ignores`,
      },
      { title: "ada's fork, then the session with it: commits, too", comparisons: first },
      {
        title: "bo's merged by git alone, then the session after cleo's was refused",
        comparisons: second,
      },
      { title: "cleo's fork with its conflict resolved, then the session", comparisons: mended },
      { title: 'msg-1 taken back by git alone, then the session', comparisons: takenBack },
    ],
    facts: [
      `forks: ${plural(verified.length, 'time')} verified in a fresh copy, ${verified.filter(({ broken }) => broken.length > 0).length} sent back`,
      `queue: ${plural(entries.length, 'entry', 'entries')}, ${conflicts.length} refused with ChangesetConflict`,
    ],
  };
};

export const PLAY: Record<ActName, (stage: ActStage) => Promise<Told>> = {
  checkpoints,
  refund,
  gang,
  changesets,
};
