/** What is done on the deployed stack, and what must hold after it. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { E2B } from 'e2b';
import type { Walkback } from '../../client/walkback.ts';
import type { RefundWorld } from '../../examples/refund/services/world.ts';

export interface Sandboxes {
  url: string;
  apiKey: string;
  dataDir: string;
}

const PROJECTS = '/home/user/projects';
const REPOSITORIES = ['api', 'web'];

const makeRepository = (path: string): void => {
  mkdirSync(path, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args], { stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(path, 'notes.txt'), 'as it was\n');
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'first');
};

/** Two messages of an agent change two repositories; the session goes back to before the second, and undoes that. */
export const checkpointStory = async (
  walkback: Walkback,
  { url, apiKey, dataDir }: Sandboxes,
): Promise<void> => {
  const sdk = new E2B({ apiKey, apiUrl: url, sandboxUrl: url }).Sandbox;
  const { sandboxId } = await sdk.create({ timeoutMs: 3_600_000 });
  const root = join(dataDir, sandboxId, 'rootfs', PROJECTS);
  for (const name of REPOSITORIES) makeRepository(join(root, name));
  const contents = () => REPOSITORIES.map((name) => readFileSync(join(root, name, 'notes.txt'), 'utf8'));
  const session = await walkback.sessions.start({ sandboxId, projectsRoot: PROJECTS });
  for (const id of ['msg-1', 'msg-2']) {
    const run = session.run({ message: { id } });
    await run.guard({ id: `call-of-${id}`, name: 'write' }, () => {
      for (const name of REPOSITORIES) writeFileSync(join(root, name, 'notes.txt'), `by ${id}\n`);
    });
    await run.finish();
  }
  await (await session.plan({ to: 'msg-1' })).apply();
  deepEqual(contents(), ['by msg-1\n', 'by msg-1\n'], 'both repositories are as the first message left them');
  await session.undo();
  deepEqual(contents(), ['by msg-2\n', 'by msg-2\n'], 'the rollback was undone');
};

export interface People {
  agent: Walkback;
  reviewer: Walkback;
  finance: Walkback;
}

/** How each saga ends, and whether the money is back at the customer. */
const CASES = [
  { name: 'through', definition: 'refund', status: 'COMPLETED', stands: true },
  { name: 'mail-refused', definition: 'refund', status: 'COMPENSATED', stands: false },
  { name: 'approved', definition: 'refund-approved', status: 'COMPLETED', stands: true, decision: 'approve' },
  { name: 'declined', definition: 'refund-approved', status: 'COMPENSATED', decision: 'reject' },
] as const;

const AMOUNT = 4200;
const WAIT_SECONDS = 120;

/** Refunds of the example, each with another end. The ledger must agree with the provider about every one. */
export const refundStory = async (
  { agent, reviewer, finance }: People,
  world: RefundWorld,
  refuseMail: (refuses: boolean) => void,
  round: string,
): Promise<void> => {
  for (const { name, definition, status, ...rest } of CASES) {
    const orderId = `${round}-${name}`;
    const paymentIntent = `pi_${orderId}`;
    const customerEmail = 'ada@example.com';
    world.stripe.addPayment(paymentIntent, 12_000);
    world.shop.addOrder({ id: orderId, paymentIntent, amount: AMOUNT, customerEmail, daysSinceDelivery: 3 });
    refuseMail(name === 'mail-refused');
    const saga = await agent.sagas.start({
      sagaId: orderId,
      definition: { name: definition },
      input: { orderId },
    });
    let seen = await saga.describe({ waitSeconds: WAIT_SECONDS });
    if ('decision' in rest) {
      equal(seen.status, 'AWAITING', orderId);
      equal(refundsOf(world, paymentIntent).length, 0, 'no money moves before the answer');
      const answer = { stepId: 'refund', decision: rest.decision, by: 'rita@example.com' } as const;
      await rejects(
        agent.sagas.get(orderId).answer(answer),
        /walkback-answer cannot be called: .*not authorized/,
      );
      await reviewer.sagas.get(orderId).answer(answer);
      seen = await saga.describe({ waitSeconds: WAIT_SECONDS });
    }
    equal(seen.status, status, `${orderId}: ${JSON.stringify(seen)}`);
    const refunds = refundsOf(world, paymentIntent);
    const entries = await finance.ledger.entries(orderId);
    const ledger = entries.filter(
      ({ tool, direction, external_ref }) =>
        tool === 'issue_refund' && direction === 'forward' && external_ref !== null,
    );
    deepEqual(
      [...new Set(ledger.map(({ external_ref }) => external_ref))],
      refunds.map(({ id }) => id),
      `${orderId}: the ledger names the refunds of the provider`,
    );
    const standing = refunds.filter(({ status: at }) => at !== 'canceled');
    equal(standing.length, 'stands' in rest && rest.stands ? 1 : 0, `${orderId}: money moved once or not`);
    const verified = await finance.ledger.verify(orderId);
    ok(verified.ok, JSON.stringify(verified.findings));
  }
};

const refundsOf = (world: RefundWorld, paymentIntent: string) =>
  world.stripe.state.refunds.filter(({ payment_intent }) => payment_intent === paymentIntent);
