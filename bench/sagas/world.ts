/** One refund in one world with faults drawn from a seed: every strategy meets the same ones. */
import type { ToolRequest } from '../../contract/tool-request.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { refundTools } from '../../examples/refund/catalog.ts';
import { refundWorld } from '../../examples/refund/services/world.ts';
import type { Fetch } from '../../examples/refund/tools/http.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';

export const RATES = { stepThreeFails: 0.18, throttled: 0.05, lostAnswer: 0.05, crash: 0.03 };

const draw = (seed: string): number => Number.parseInt(sha256Hex(seed).slice(0, 12), 16) / 2 ** 48;

const isWrite = (init?: RequestInit): boolean => init?.method === 'POST' || init?.method === 'PUT';

/** What died with its process between the effect and its record. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

export const benchWorld = (run: number) => {
  const clock = virtualClock(1_700_000_000_000);
  const thirdFails = draw(`${run} third step`) < RATES.stepThreeFails;
  const world = refundWorld({
    now: clock.nowMs,
    faults: { netsuite: { closedPeriod: (_, externalId) => thirdFails && !externalId.endsWith(':undo') } },
  });
  world.stripe.addPayment('pi_1', 50_000);
  world.shop.addOrder({
    id: 'o',
    paymentIntent: 'pi_1',
    amount: 4200,
    customerEmail: 'a@example.com',
    daysSinceDelivery: 1,
  });

  let current = '';
  const calls = new Map<string, number>();
  const nth = (what: string): number => {
    const count = (calls.get(what) ?? 0) + 1;
    calls.set(what, count);
    return count;
  };
  const network: Fetch = async (input, init) => {
    const send = async () => world.app.fetch(new Request(input, init));
    if (!isWrite(init)) return send();
    const chance = draw(`${run} ${current} wire ${nth(`${current} wire`)}`);
    if (chance < RATES.throttled) return Response.json({ error: { code: 'rate_limit' } }, { status: 429 });
    const answer = await send();
    if (chance < RATES.throttled + RATES.lostAnswer) throw new TypeError('fetch failed');
    return answer;
  };
  const handle = toolHandler(refundTools(servicesAt('http://refund.test', 'sk', network)), {
    tombstones: memoryTombstones(),
    now: clock.nowMs,
  });

  return {
    clock,
    services: servicesAt('http://refund.test', 'sk', network),
    /** Calls a tool; may die after the effect, before anybody can write it down. */
    call: async (request: ToolRequest) => {
      current = `${request.step} ${request.operation}`;
      const outcome = await handle(request);
      if (draw(`${run} ${current} crash ${nth(`${current} crash`)}`) < RATES.crash)
        throw new ProcessDied('died');
      return outcome;
    },
    /** What stands in the providers. */
    standing: () => {
      const refunds = world.stripe.state.refunds.filter(({ status }) => status !== 'canceled').length;
      const tickets = world.zendesk.state.tickets.filter(({ status }) => status !== 'closed').length;
      const reversed = new Set(world.netsuite.state.entries.map(({ reversalOf }) => reversalOf));
      const entries = world.netsuite.state.entries.filter(
        ({ externalId, reversalOf }) => reversalOf === null && !reversed.has(externalId),
      ).length;
      return { refunds, tickets, entries, mails: world.shop.state.mails.length };
    },
  };
};

export type BenchWorld = ReturnType<typeof benchWorld>;
