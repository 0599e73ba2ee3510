/** The way into the session: one fork after the other, each verified as it will be when it is in. */
import type { Answer, Saga } from 'walkback';
import { type Fork, type Lead, type WorkingSession, work } from './steps.ts';
import { type Commitment, SHOP_WORKS } from './team.ts';

const PROJECT = 'shop';
const WAIT_SECONDS = 300;

type Observation = Answer<'describe-saga'>;

/** What the last checkpoint of the fork holds, and what has to hold when it is in the session: for those before it, too. */
export const enqueue = (
  { walkback }: Lead,
  { session }: WorkingSession,
  from: Fork,
  promises: readonly Commitment[],
): Promise<Saga> =>
  walkback.sagas.start({
    definition: { name: 'merge-queue' },
    // Entries of one project go one after the other, in order of their start.
    project: PROJECT,
    input: {
      from: from.session.sessionId,
      into: session.sessionId,
      commitments: [SHOP_WORKS, ...promises],
    },
    requestedBy: 'lead',
  });

/** How the entry ended: `COMPLETED`, or `COMPENSATED` with nothing left of it. */
export const settled = (entry: Saga): Promise<Observation> => entry.describe({ waitSeconds: WAIT_SECONDS });

/** Of an entry that is in: the checkpoint of the session after it, and the fork of the session in which it was verified before. */
export const cameIn = ({ sagaId, committed }: Observation): { checkpointId: string; stagingId: string } => {
  const referenceOf = (step: string): string => {
    const reference = committed.find((one) => one.step === step)?.externalRef ?? undefined;
    if (reference === undefined) throw new Error(`Entry ${sagaId} has no step ${step}.`);
    return reference;
  };
  return { checkpointId: referenceOf('apply'), stagingId: referenceOf('open') };
};

/** The session comes into the fork, with conflicts between markers; its agent resolves them there. */
export const bringIn = async (
  lead: Lead,
  { session }: WorkingSession,
  into: Fork,
): Promise<Answer<'merge'>> => {
  const merged = await into.session.merge(session, { markers: true });
  await work(lead, into, 'Others were merged meanwhile. Keep your limit, and what they did.');
  return merged;
};
