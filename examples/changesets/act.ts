/**
 * The demo's fourth act: three agents work in forks of one session. What they promise is verified in fresh
 * copies, and one agent is sent back. A queue merges their work. One fork has a conflict, which its agent
 * resolves in the fork, and is merged too. Then one message is taken back.
 */
import { join } from 'node:path';
import type { Comparison } from '../../cli/demo/fingerprint.ts';
import type { Screen } from '../../cli/demo/screen.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import type { Walkback } from '../../client/index.ts';
import { type Entry, mergeAll, takeMessageBack } from './act-merges.ts';
import { compareAll, compareEach, createRecorder, requireChange } from './act-proof.ts';
import { begin, makeForks, type Verified, workAside } from './act-work.ts';

export interface ChangesetsProof {
  /** All repositories of a place compared together, one row for each place. */
  places: Comparison[];
  /** The fork that was merged first, compared with the session after it. */
  first: Comparison[];
  /** The second fork as git alone merges it, compared with the session after the third was refused. */
  second: Comparison[];
  /** The fork in which a conflict was resolved, compared with the session after its merge. */
  mended: Comparison[];
  /** The session as git alone takes the message back, compared with the session after that. */
  takenBack: Comparison[];
  /** Which agents were done, in order. The agent that was sent back is there twice. */
  verified: Verified[];
  /** The queue's entries, in order. */
  entries: Entry[];
}

interface Stage {
  walkback: Walkback;
  sandboxes: LocalSandboxes;
  screen: Screen;
  now: () => Date;
  /** Directory for copies of what is compared. */
  directory: string;
}

/** Plays the act in a cloud of this process. Throws `ProofFailed` when something ends differently. */
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
    mended: compareEach(at('cleo resolved'), at('cleo merged')),
    takenBack: compareEach(at('back by git'), at('taken back')),
    verified,
    entries,
  };
};
