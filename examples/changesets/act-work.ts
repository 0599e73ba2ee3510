/**
 * The first half of the act of changesets: the forks, the work of three agents in them, and whether it is
 * done.
 */

import type { Screen } from '../../cli/demo/screen.ts';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { wrap } from '../../cli/terminal/text.ts';
import type { Walkback } from '../../client/index.ts';
import { type Recorder, requireChange } from './act-proof.ts';
import { DEBUG, REPOSITORIES } from './shop.ts';
import { debug, type Fork, fork, openShop, redirect, verify, type WorkingSession, work } from './steps.ts';
import { GUIDANCE, TEAM } from './team.ts';

export interface Act {
  walkback: Walkback;
  sandboxes: LocalSandboxes;
  screen: Screen;
  now: () => Date;
  recorder: Recorder;
}

/** The result of verifying a fork in a fresh copy. */
export interface Verified {
  agent: string;
  kept: string[];
  broken: string[];
  /** Output of the first commitment that was broken. */
  why?: string;
}

const NAME_WIDTH = Math.max(...TEAM.map(({ name }) => name.length));

export const begin = async (act: Act): Promise<WorkingSession> => {
  const { screen, recorder } = act;
  const { paint } = screen;
  screen.chapter('A lead works in three repositories, and three agents join');
  const shop = await screen.progress('Building the shop', () => openShop(act, 'shop'));
  screen.line(
    `${paint.bold(REPOSITORIES.join(' · '))}  ${paint.dim(`one session, in sandbox ${shop.sandboxId}`)}`,
  );
  await recorder.record('built', shop.sandboxId);
  await debug(act, shop);
  await recorder.record('forked', shop.sandboxId);
  screen.operation({ messageId: DEBUG.messageId, says: DEBUG.text, note: 'in the session' });
  return shop;
};

export const makeForks = async ({ screen, recorder }: Act, shop: WorkingSession): Promise<Fork[]> => {
  const forks = await screen.progress('Forking the session', () =>
    Promise.all(TEAM.map((agent) => fork(shop, agent))),
  );
  for (const { agent, sandboxId } of forks) {
    await recorder.record(`${agent.name} began`, sandboxId);
    screen.operation({ messageId: agent.name.padEnd(NAME_WIDTH), says: agent.task, note: 'in a fork' });
  }
  return forks;
};

const check = async ({ screen }: Act, each: Fork): Promise<Verified> => {
  const { paint } = screen;
  const { ok, commitments } = await screen.progress(`Verifying ${each.agent.name}`, () => verify(each));
  const ids = (wanted: boolean): string[] =>
    commitments.filter(({ status }) => (status === 'kept') === wanted).map(({ id }) => id);
  const why = commitments.find(({ status }) => status !== 'kept')?.output.trim();
  const told = ok ? ids(true).join(', ') : `${ids(false).join(', ')}: ${why ?? 'not run'}`;
  screen.line(`${ok ? paint.green('✔') : paint.red('✘')} ${each.agent.name.padEnd(NAME_WIDTH)}  ${told}`);
  return {
    agent: each.agent.name,
    kept: ids(true),
    broken: ids(false),
    ...(why === undefined ? {} : { why }),
  };
};

/** All agents work at once. */
const workAtOnce = async (act: Act, shop: WorkingSession, forks: readonly Fork[]): Promise<Verified[]> => {
  const { screen, recorder } = act;
  screen.chapter('They work side by side; fresh copies of their forks say who is done');
  await screen.progress('Three agents at work', () =>
    Promise.all(forks.map((each) => work(act, each, each.agent.task))),
  );
  await recorder.record('others worked', shop.sandboxId);
  const verified: Verified[] = [];
  for (const each of forks) {
    const { name } = each.agent;
    await recorder.record(`${name} worked`, each.sandboxId);
    requireChange(`The work of ${name}`, recorder.at(`${name} began`), recorder.at(`${name} worked`));
    verified.push(await check(act, each));
  }
  return verified;
};

const sendBack = async (act: Act, each: Fork): Promise<Verified> => {
  const { screen, recorder } = act;
  const { name } = each.agent;
  screen.chapter(`Its check passed at the desk of ${name} only, so ${name} is sent back`);
  screen.block(wrap(`guidance: ${GUIDANCE}`, screen.width));
  const told = await screen.progress('Rewinding the fork', () => redirect(each, GUIDANCE));
  await recorder.record(`${name} rewound`, each.sandboxId);
  await screen.progress(`${name} works again`, () => work(act, each, told));
  await recorder.record(`${name} worked`, each.sandboxId);
  return check(act, each);
};

/** Throws `ProofFailed` unless exactly one agent is sent back once, and then all are done. */
export const workAside = async (
  act: Act,
  shop: WorkingSession,
  forks: readonly Fork[],
): Promise<Verified[]> => {
  const first = await workAtOnce(act, shop, forks);
  const [back, ...more] = forks.filter((_, n) => first[n]?.broken.length !== 0);
  if (back?.agent.name !== 'bo' || more.length > 0) {
    throw new CliError('ProofFailed', `Not one is to be sent back: ${JSON.stringify(first)}`);
  }
  const again = await sendBack(act, back);
  if (again.broken.length > 0) throw new CliError('ProofFailed', `Not done again: ${again.why ?? ''}`);
  return [...first, again];
};
