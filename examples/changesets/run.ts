/**
 * Three agents work side by side in forks of one session; their work is verified, sent back, queued, merged, resolved and, in a part,
 * taken back. `npx node examples/changesets/run.ts`, on the embedded cloud of this machine or in AWS.
 */
import { type Saga, Walkback } from 'walkback';
import { bringIn, enqueue, settled } from './queue.ts';
import { openSandboxes } from './sandboxes.ts';
import { DEBUG } from './shop.ts';
import { closeShop, debug, type Fork, fork, openShop, redirect, takeBack, verify, work } from './steps.ts';
import { type Commitment, GUIDANCE, TEAM } from './team.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const walkback = new Walkback();
const lead = { walkback, sandboxes: await openSandboxes(walkback) };
const shop = await openShop(lead);
await debug(lead, shop);

const forks = await Promise.all(TEAM.map((agent) => fork(shop, agent)));
await Promise.all(forks.map((each) => work(lead, each, each.agent.task)));
for (const each of forks) {
  const { ok, commitments } = await verify(each);
  say(`${each.agent.name}: ${ok ? 'done' : 'not done'}`);
  if (ok) continue;
  for (const { status, output } of commitments)
    if (status !== 'kept') say(`  in a fresh copy: ${output.trim()}`);
  await work(lead, each, await redirect(each, GUIDANCE));
  say(`${each.agent.name}: sent back, then ${(await verify(each)).ok ? 'done' : 'not done'}`);
}

const entries: { each: Fork; entry: Saga }[] = [];
const promises: Commitment[] = [];
for (const each of forks) {
  promises.push(each.agent.promise);
  entries.push({ each, entry: await enqueue(lead, shop, each, promises) });
}
for (const { each, entry } of entries) {
  const { status, failed } = await settled(entry);
  say(`${each.agent.name}: ${status === 'COMPLETED' ? 'merged' : (failed?.error.name ?? status)}`);
  if (failed?.error.name !== 'ChangesetConflict') continue;
  const { conflicts = [] } = await bringIn(lead, shop, each);
  for (const { repository, path, kind } of conflicts) say(`  resolved ${repository}/${path} (${kind})`);
  const again = await settled(await enqueue(lead, shop, each, promises));
  say(`${each.agent.name}: ${again.status === 'COMPLETED' ? 'merged' : again.status}`);
}

const { repositories } = await takeBack(shop, DEBUG.messageId);
const changed = repositories.filter(({ action }) => action !== 'unchanged').map(({ path }) => path);
say(`${DEBUG.messageId}: taken back in ${changed.join(', ')}`);
await closeShop(lead, shop, forks);
await walkback.close();
