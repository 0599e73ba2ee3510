/**
 * The demo's third act: a saga gives three tasks to agents, each with a sandbox of its own. One fails, the
 * one that works for the same customer is taken back with it, and the third stays. A reviewer rewinds the
 * parent two steps with guidance, and it goes on.
 */
import { join } from 'node:path';
import type { Comparison } from '../../cli/demo/fingerprint.ts';
import { AMOUNT, type Providers } from '../../cli/demo/providers.ts';
import type { Screen } from '../../cli/demo/screen.ts';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { table } from '../../cli/terminal/table.ts';
import { observationText, statusWord } from '../../cli/view/saga-views.ts';
import type { Invoke } from '../../contract/invoke.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import {
  compareDesk,
  type DeskState,
  deskState,
  requireProof,
  requireWork,
  type Standing,
  standingOf,
  type VerifiedTree,
  verifiedTree,
} from './act-proof.ts';
import { type Agents, openAgents } from './agents.ts';
import { AGENTS, type Agent } from './catalog.ts';

const ROOT = 'gang';
const WAIT_SECONDS = 120;
const CUSTOMERS: Record<Agent, string> = { mug: 'ada', lamp: 'ada', chair: 'bo' };
const GUIDANCE = 'The accounting period is open again. Do all three, in one go.';

const orderOf = (agent: Agent): string => `order-${agent}`;

export interface GangProof {
  /** Desks before their agents' work, compared with the same desks after it was taken back. */
  takenBack: Comparison[];
  /**
   * The desk of the agent that went on, after its work, compared with the same desk after its siblings were
   * undone.
   */
  kept: Comparison[];
  /** The parent when it asked, and at the end. */
  asked: Observation;
  completed: Observation;
  standing: Standing;
  ledgers: VerifiedTree;
}

interface Act {
  invoke: Invoke;
  sandboxes: Pick<LocalSandboxes, 'create' | 'run' | 'places'>;
  screen: Screen;
  providers: Providers;
  /** Directory for the agents' tombstones. */
  directory: string;
}

const expectStatus = ({ sagaId, status }: Observation, wanted: Observation['status']): void => {
  if (status !== wanted) throw new CliError('ProofFailed', `Saga ${sagaId} is ${status}, not ${wanted}.`);
};

const settled = ({ invoke, screen }: Act, label: string): Promise<Observation> =>
  screen.progress(label, () => invoke('walkback-describe-saga', { sagaId: ROOT, waitSeconds: WAIT_SECONDS }));

/** Shows what became of the children of one epoch. */
const showChildren = async (
  { invoke, screen }: Act,
  wanted: Record<Agent, Observation['status']>,
  epoch = '',
): Promise<void> => {
  const rows: string[][] = [];
  for (const agent of AGENTS) {
    const seen = await invoke('walkback-describe-saga', { sagaId: `${ROOT}.agents.${agent}${epoch}` });
    expectStatus(seen, wanted[agent]);
    const { committed, compensated, failed } = seen;
    const effects = `${committed.length} stand, ${compensated.length} undone`;
    const step = failed?.step ?? null;
    const why = failed === undefined ? '-' : step === null ? failed.error.name : `${step} was refused`;
    rows.push([`${agent}${epoch}`, CUSTOMERS[agent], statusWord(seen.status, screen.paint), effects, why]);
  }
  const columns = ['CHILD', 'CUSTOMER', 'STATUS', 'EFFECTS', 'WHY'].map((head) => ({ head }));
  screen.block(table(columns, rows, screen.paint));
};

const branchFails = async (act: Act): Promise<Observation> => {
  const { invoke, screen, providers } = act;
  screen.chapter('A saga delegates three returns; the books refuse the second one');
  providers.closedFor = (externalId) => externalId.startsWith(`${ROOT}.agents.lamp`);
  await invoke('walkback-start-saga', {
    sagaId: ROOT,
    definition: { name: 'gang' },
    input: { to: 'returns@example.com' },
    requestedBy: 'agent',
  });
  const asked = await settled(act, 'Three agents at work');
  expectStatus(asked, 'AWAITING');
  await showChildren(act, { mug: 'COMPENSATED', lamp: 'COMPENSATED', chair: 'COMPLETED' });
  screen.line(screen.paint.dim('mug and lamp are for one customer, so both go back; chair stays'));
  screen.line();
  screen.block(observationText(asked, screen.paint, screen.width));
  return asked;
};

const reviewerRewinds = async (act: Act): Promise<Observation> => {
  const { invoke, screen, providers } = act;
  screen.chapter('A reviewer does not approve that, and takes it back two steps');
  screen.line(`walkback rewind --saga ${ROOT} --steps 2 \\`);
  screen.line(`  --guidance "${GUIDANCE}"`);
  providers.closedFor = () => false;
  providers.refusesMail = false;
  const request = {
    sagaId: ROOT,
    to: { steps: 2 },
    guidance: GUIDANCE,
    requestId: 'gang-rewind',
    by: 'rita',
  };
  const { status } = await screen.progress('Taking back two steps', () =>
    invoke('walkback-rewind', { ...request, waitSeconds: WAIT_SECONDS }),
  );
  if (status !== 'REWOUND') throw new CliError('ProofFailed', `The rewind is ${status}, not REWOUND.`);
  const again = await settled(act, 'The agents work again');
  expectStatus(again, 'AWAITING');
  await showChildren(act, { mug: 'COMPLETED', lamp: 'COMPLETED', chair: 'COMPLETED' }, '.E1');
  screen.chapter('Now it is approved');
  const epoch = again.awaiting?.epoch;
  await invoke('walkback-answer', {
    sagaId: ROOT,
    stepId: 'confirm',
    decision: 'approve',
    by: 'rita',
    ...(epoch === undefined ? {} : { epoch }),
  });
  const completed = await settled(act, 'Finishing the saga');
  screen.block(observationText(completed, screen.paint, screen.width));
  expectStatus(completed, 'COMPLETED');
  return completed;
};

const play = async (act: Act, agents: Agents, work: ReadonlyMap<string, DeskState>): Promise<GangProof> => {
  const { invoke, sandboxes, providers } = act;
  const at = (moment: string, child: string) => work.get(`${moment} ${ROOT}.agents.${child}`);
  const asked = await branchFails(act);
  const now = new Map<Agent, DeskState>();
  for (const [agent, desk] of agents.desks) now.set(agent, await deskState(sandboxes, desk));
  const completed = await reviewerRewinds(act);
  for (const agent of AGENTS) requireWork(compareDesk(agent, at('before', agent), at('after', agent)));
  const standing = standingOf(providers.world, ROOT, AGENTS.map(orderOf));
  const ledgers = await act.screen.progress('Verifying the ledgers', () => verifiedTree(invoke, ROOT));
  requireProof(standing, ledgers, AGENTS.length * AMOUNT);
  return {
    takenBack: [
      ...compareDesk('lamp', at('before', 'lamp'), now.get('lamp')),
      ...compareDesk('mug', at('before', 'mug'), now.get('mug')),
      // The rewind took it back, and the agent found it so when it began again.
      ...compareDesk('chair', at('before', 'chair'), at('before', 'chair.E1')),
    ],
    kept: compareDesk('chair', at('after', 'chair'), now.get('chair')),
    asked,
    completed,
    standing,
    ledgers,
  };
};

/** Plays the act in a cloud of this process. Throws `ProofFailed` when something ends differently. */
export const gangAct = async (act: Act): Promise<GangProof> => {
  for (const agent of AGENTS) {
    act.providers.addOrder({ id: orderOf(agent), customerEmail: `${CUSTOMERS[agent]}@example.com` });
  }
  /** The desks as the sagas first found them and last left them. */
  const work = new Map<string, DeskState>();
  const agents = await openAgents({
    ...act,
    directory: join(act.directory, 'agents'),
    onWork: async ({ desk, sagaId, moment }) => {
      const what = `${moment} ${sagaId}`;
      if (moment === 'before' && work.has(what)) return;
      work.set(what, await deskState(act.sandboxes, desk));
    },
  });
  try {
    return await play(act, agents, work);
  } finally {
    agents.close();
  }
};
