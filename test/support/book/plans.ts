/** Random plans and trees of sagas, over tools of every kind. */
import type { Json, JsonObject } from '../../../contract/json.ts';
import type { Plan, PlanStep } from '../../../core/saga/model/plan.ts';
import type { ToolManifest } from '../../../core/saga/model/tool.ts';
import { scriptedTool } from '../scripted-saga.ts';
import type { Random } from './random.ts';

const SUM = { amount: 'result.amount', currency: 'result.currency' } as const;
const IN = { ...SUM, amountDirection: 'in' } as const;
const OUT = { ...SUM, amountDirection: 'out' } as const;
const BOOKED = { ...SUM, amountDirection: 'neither' } as const;
const ON_ACCOUNT = { resourceKey: '"acct/" & account' };
const NO_KEY = { idempotencyWindowSeconds: 0 };

const SOON = { maxAttempts: 3, backoffSeconds: 1, backoffRate: 2, maxBackoffSeconds: 10 };
const LATER = {
  maxAttempts: 40,
  backoffSeconds: 1,
  backoffRate: 2,
  maxBackoffSeconds: 60,
  jitter: 0.5,
  delayedAfterSeconds: 20,
  giveUpAfterSeconds: 600,
};
const undoneBy = (name: string, retry = SOON, more = {}): Pick<ToolManifest, 'compensation'> => ({
  compensation: { name, timeoutSeconds: 10, retry, ...more },
});

export const BOOK_TOOLS: readonly ToolManifest[] = [
  scriptedTool('charge', 'compensatable', { ...IN, ...ON_ACCOUNT, ...undoneBy('refund') }),
  scriptedTool('transfer', 'compensatable', {
    ...OUT,
    probe: true,
    replaysErrors: true,
    ...undoneBy('untransfer', LATER),
  }),
  scriptedTool('post', 'compensatable', { ...BOOKED, ...NO_KEY, probe: true, ...undoneBy('unpost') }),
  scriptedTool('note', 'compensatable', { ...NO_KEY, ...ON_ACCOUNT, ...undoneBy('unnote', LATER) }),
  scriptedTool('part', 'partial', { ...IN, ...undoneBy('unpart', LATER, { amount: 'undone.amount' }) }),
  scriptedTool('alone', 'compensatable', {
    ...OUT,
    exclusive: true,
    resourceKey: '"alone/" & account',
    ...undoneBy('unalone'),
  }),
  scriptedTool('mail', 'irreversible', NO_KEY),
  scriptedTool('wire', 'irreversible', { ...OUT, ...NO_KEY, probe: true }),
  scriptedTool('look', 'read'),
];

const TAKEN_BACK = ['charge', 'transfer', 'post', 'note', 'part', 'alone'];
const FINAL = ['mail', 'wire'];

const AMOUNTS: readonly (readonly [amount: Json, currency: string])[] = [
  ['12.50', 'EUR'],
  [7, 'EUR'],
  [19.99, 'EUR'],
  ['-3.10', 'EUR'],
  ['1000', 'JPY'],
  ['0.125', 'KWD'],
  [0, 'EUR'],
  ['1.5', 'usd'],
  ['0.01', 'EUR'],
  [123_456.78, 'USD'],
  // As many digits as the ledger keeps, and one that it refuses.
  ['999999999999999999999999.999999999999', 'EUR'],
  ['-000000000000000000000000.000000000001', 'EUR'],
  ['+0.1', 'KWD'],
  ['-0.00', 'JPY'],
  [9_007_199_254_740_991, 'CLF'],
  ['1000000000000000000000000', 'EUR'],
];

/** Where it is crowded, half of them want something for themselves. */
export const toolOf = (random: Random, isCrowded = false): string => {
  if (isCrowded && random.chance(0.5)) return 'alone';
  return random.chance(0.12) ? 'look' : random.pick(TAKEN_BACK);
};
export const finalToolOf = (random: Random): string => random.pick(FINAL);

export const argumentsOf = (random: Random): JsonObject => {
  const [amount, currency] = random.pick(AMOUNTS);
  return { amount, currency, account: `a${random.between(1, 3)}` };
};

const DEEPEST = 3;

interface PlanOptions {
  depth?: number;
  isCrowded?: boolean;
}

const stepOf = (random: Random, id: string, { depth = 1, isCrowded = false }: PlanOptions): PlanStep => {
  const approval = random.chance(0.2) ? { approval: { timeoutSeconds: random.pick([20, 600]) } } : {};
  const kind = depth < DEEPEST ? random.next() : 1;
  if (kind < 0.14)
    return { id, saga: { plan: planOf(random, { depth: depth + 1, isCrowded }) }, input: {}, ...approval };
  if (kind < 0.28) {
    const names = ['b0', 'b1', 'b2'].slice(0, random.between(1, 3));
    return {
      id,
      branches: names.map((branch) => ({
        id: branch,
        plan: planOf(random, { depth: depth + 1, isCrowded }),
        input: {},
      })),
      onBranchFailure: random.pick(['sharing', 'all', 'isolate', 'report']),
      ...(random.chance(0.15) ? { timeoutSeconds: 30 } : {}),
      ...approval,
    };
  }
  if (kind < 0.36) {
    const overdue = random.chance(0.2) ? { timeoutSeconds: 40 } : {};
    return {
      id,
      interactive: { onIdle: 'unwind', idleTimeoutSeconds: 600 },
      input: {},
      ...overdue,
      ...approval,
    };
  }
  return { id, tool: toolOf(random, isCrowded), arguments: argumentsOf(random), ...approval };
};

export const planOf = (random: Random, place: PlanOptions = {}): Plan => {
  const { depth = 1 } = place;
  const count = random.between(1, depth > 1 ? 3 : 5);
  const steps = Array.from({ length: count }, (_, index) => stepOf(random, `s${index}`, place));
  const final = (id: string) => ({ id, tool: finalToolOf(random), arguments: argumentsOf(random) });
  // Nothing takes it back: it is the last step, or a person approves it first.
  if (random.chance(0.2) && depth === 1) return { steps: [...steps, final('last')] };
  if (random.chance(0.15)) {
    return { steps: [{ ...final('gate'), approval: { timeoutSeconds: 600 } }, ...steps] };
  }
  return { steps };
};
