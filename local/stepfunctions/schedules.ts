/**
 * Rules of the default bus that go by the clock. Unlike in a deployment, frequent rules also fire when the
 * cloud starts, so that what its last run left behind is picked up at once. A rare rule's function must be
 * called by whoever needs it sooner.
 */
import type { Log } from '../../core/shared/surroundings.ts';
import { inBackground } from '../in-background.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import type { CloudPlan } from '../plan.ts';

const FREQUENT_MS = 5 * 60_000;

export const startSchedules = ({
  plan,
  functions,
  log,
}: {
  plan: CloudPlan;
  functions: LocalFunctions;
  log: Log;
}) => {
  const fire = async (names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const fn = functions.find(name);
      if (fn === undefined) continue;
      const result = await functions.invoke(fn, {});
      if (result.failed) log.warn(`${name} failed`, { payload: result.payload });
    }
  };
  const timers = plan.rules.flatMap((rule) => {
    if (rule.kind !== 'schedule') return [];
    const tick = () => inBackground(log, 'a scheduled rule', () => fire(rule.functionNames));
    if (rule.everyMs <= FREQUENT_MS) tick();
    return [setInterval(tick, rule.everyMs)];
  });
  return {
    close: async (): Promise<void> => {
      for (const timer of timers) clearInterval(timer);
    },
  };
};
