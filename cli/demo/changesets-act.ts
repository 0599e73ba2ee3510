/**
 * The demo's fourth act: three agents work in forks of one session. What they promise is verified in fresh copies, and one is sent
 * back. A queue merges their work; one is in conflict, mends it in its fork, and is merged as well. Then one message is taken back.
 */
import { join } from 'node:path';
import type { Walkback } from '../../client/index.ts';
import type { LocalSandboxes } from '../sandboxes.ts';
import { type Entry, mergeAll, takeMessageBack } from './changesets-merges.ts';
import { compareAll, compareEach, createRecorder, requireChange } from './changesets-proof.ts';
import { begin, makeForks, type Verified, workAside } from './changesets-work.ts';
import type { Comparison } from './fingerprint.ts';
import type { Screen } from './screen.ts';

export interface ChangesetsProof {
  /** All repositories of a place together, one place each. */
  places: Comparison[];
  /** The fork that was merged first, against the session then. */
  first: Comparison[];
  /** The second one as git alone merges it, against the session after the third was refused. */
  second: Comparison[];
  /** The fork that mended a conflict, against the session when it was merged. */
  mended: Comparison[];
  /** The session as git alone takes the message back, against the session then. */
  takenBack: Comparison[];
  /** Who was done, in order; the agent that was sent back is there twice. */
  verified: Verified[];
  /** Of the queue, in order. */
  entries: Entry[];
}

interface Stage {
  walkback: Walkback;
  sandboxes: LocalSandboxes;
  screen: Screen;
  now: () => Date;
  /** For copies of what is compared. */
  directory: string;
}

/** Plays the act against a cloud of this process. Throws `ProofFailed` when something ends otherwise than told. */
export const changesetsAct = async (stage: Stage): Promise<ChangesetsProof> => {
  const recorder = createRecorder(stage.sandboxes, join(stage.directory, 'changesets'));
  const act = { ...stage, recorder };
  const shop = await begin(act);
  const forks = await makeForks(act, shop);
  const verified = await workAside(act, shop, forks);
  const entries = await mergeAll(act, shop, forks);
  await takeMessageBack(act, shop);
  const { at, mergeByGit } = recorder;
  await mergeByGit('bo by git', { base: 'forked', ours: 'ada merged', theirs: 'bo worked' });
  await mergeByGit('back by git', { base: 'forked', ours: 'cleo merged', theirs: 'built' });
  requireChange('The merge of bo', at('ada merged'), at('queue ended'));
  requireChange('Taking the message back', at('cleo merged'), at('taken back'));
  return {
    places: [
      ...forks.map(({ agent: { name } }) => compareAll(`${name} began`, at('forked'), at(`${name} began`))),
      compareAll('session stayed', at('forked'), at('others worked')),
      compareAll('bo rewound', at('bo began'), at('bo rewound')),
      compareAll('bo verified', at('bo verified'), at('queue ended')),
    ],
    first: compareEach(at('ada worked'), at('ada merged')),
    second: compareEach(at('bo by git'), at('queue ended')),
    mended: compareEach(at('cleo mended'), at('cleo merged')),
    takenBack: compareEach(at('back by git'), at('taken back')),
    verified,
    entries,
  };
};
