/**
 * The second half of the act of changesets: the queue, a conflict that is resolved in its fork, and a message
 * that is taken back.
 */

import { CliError } from '../../cli/failure.ts';
import { table } from '../../cli/terminal/table.ts';
import { restoredRows } from '../../cli/view/rollback-view.ts';
import { statusWord } from '../../cli/view/saga-views.ts';
import { timelineText } from '../../cli/view/timeline-print.ts';
import type { Answer, Saga } from '../../client/index.ts';
import type { Act } from './act-work.ts';
import { bringIn, cameIn, enqueue, settled } from './queue.ts';
import { DEBUG } from './shop.ts';
import { type Fork, takeBack, type WorkingSession } from './steps.ts';
import { type Commitment, TEAM } from './team.ts';

type Observation = Answer<'describe-saga'>;

/** One fork in the queue, and its outcome. */
export interface Entry {
  agent: string;
  sagaId: string;
  status: Observation['status'];
  /** The step that was refused. */
  step?: string;
  error?: string;
}

const entryOf = ({ agent }: Fork, { sagaId, status, failed }: Observation): Entry => ({
  agent: agent.name,
  sagaId,
  status,
  ...(failed === undefined ? {} : { step: failed.step ?? '', error: failed.error.name }),
});

const show = ({ screen }: Act, entries: readonly Entry[]): void => {
  const rows = entries.map(({ agent, status, step, error }) => [
    agent,
    statusWord(status, screen.paint),
    error === undefined ? 'verified as it is applied, then applied' : `${step}: ${error}`,
  ]);
  screen.block(table([{ head: 'FORK' }, { head: 'STATUS' }, { head: 'WHAT' }], rows, screen.paint));
};

/** Records what a checkpoint holds, in a copy of its own. */
const recordCopy = async (
  { walkback, recorder }: Act,
  name: string,
  { sessionId, checkpointId }: { sessionId: string; checkpointId?: string },
): Promise<void> => {
  const session = await walkback.sessions.get(sessionId);
  const { sandboxId } = await session.rehydrate(checkpointId === undefined ? {} : { to: { checkpointId } });
  await recorder.record(name, sandboxId);
};

const expect = (entry: Entry | undefined, agent: string, error?: string): void => {
  const wanted = error === undefined ? 'COMPLETED' : 'COMPENSATED';
  if (entry?.agent === agent && entry.status === wanted && entry.error === error) return;
  throw new CliError('ProofFailed', `The entry of ${agent} ended as ${JSON.stringify(entry)}.`);
};

/** All forks are put into the queue before the first is merged. */
const queueAll = async (act: Act, shop: WorkingSession, forks: readonly Fork[]): Promise<Entry[]> => {
  const { screen, recorder } = act;
  const { sessionId } = shop.session;
  screen.chapter('A queue merges them one after the other, all repositories or none');
  const promises: Commitment[] = [];
  const queued: { each: Fork; saga: Saga }[] = [];
  for (const each of forks) {
    promises.push(each.agent.promise);
    queued.push({ each, saga: await enqueue(act, shop, each, promises) });
  }
  const entries: Entry[] = [];
  const merged: ({ name: string } & ReturnType<typeof cameIn>)[] = [];
  for (const { each, saga } of queued) {
    const { name } = each.agent;
    const seen = await screen.progress(`${name} is merged`, () => settled(saga));
    entries.push(entryOf(each, seen));
    if (seen.status !== 'COMPLETED') continue;
    merged.push({ name, ...cameIn(seen) });
  }
  await recorder.record('queue ended', shop.sandboxId);
  const [one, two] = merged;
  if (one === undefined || two === undefined) throw new CliError('ProofFailed', JSON.stringify(entries));
  await screen.progress('Copying what was merged, for the proof', async () => {
    await recordCopy(act, `${one.name} merged`, { sessionId, checkpointId: one.checkpointId });
    await recordCopy(act, `${two.name} verified`, { sessionId: two.stagingId });
  });
  show(act, entries);
  const [ada, bo, cleo] = entries;
  expect(ada, 'ada');
  expect(bo, 'bo');
  expect(cleo, 'cleo', 'ChangesetConflict');
  return entries;
};

/** Merges the session into the fork, and then the fork into the session. */
const mend = async (act: Act, shop: WorkingSession, each: Fork): Promise<Entry> => {
  const { screen, recorder } = act;
  const { name } = each.agent;
  screen.chapter(`The session is merged into ${name}'s fork; ${name} resolves it, and is merged`);
  const { conflicts = [] } = await screen.progress(`${name} resolves`, () => bringIn(act, shop, each));
  for (const { repository, path, kind } of conflicts) screen.line(`${repository}/${path}  ${kind}`);
  await recorder.record(`${name} resolved`, each.sandboxId);
  const saga = await enqueue(
    act,
    shop,
    each,
    TEAM.map(({ promise }) => promise),
  );
  const entry = entryOf(each, await screen.progress(`${name} is merged`, () => settled(saga)));
  await recorder.record(`${name} merged`, shop.sandboxId);
  show(act, [entry]);
  expect(entry, name);
  return entry;
};

/** All entries of the queue, in order. */
export const mergeAll = async (act: Act, shop: WorkingSession, forks: readonly Fork[]): Promise<Entry[]> => {
  const entries = await queueAll(act, shop, forks);
  const last = forks.at(-1);
  if (last === undefined) throw new CliError('InternalError', 'There is no fork.');
  return [...entries, await mend(act, shop, last)];
};

export const takeMessageBack = async (act: Act, shop: WorkingSession): Promise<void> => {
  const { screen, recorder, walkback, now } = act;
  const { messageId } = DEBUG;
  screen.chapter(`${messageId} is taken back; what was merged after it stays`);
  const { repositories } = await screen.progress(`Taking back ${messageId}`, () => takeBack(shop, messageId));
  await recorder.record('taken back', shop.sandboxId);
  screen.block(table([{ head: '' }, { head: '' }, { head: '' }], restoredRows(repositories), screen.paint));
  const timeline = await walkback.invoke('timeline', { sessionId: shop.session.sessionId, limit: 50 });
  screen.line();
  screen.block(timelineText(timeline, { paint: screen.paint, width: screen.width, now: now() }));
};
