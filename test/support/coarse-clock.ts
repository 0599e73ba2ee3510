import type { VirtualClock } from '../../kit/testing/virtual-clock.ts';

/** What it says moves in steps, so calls that follow each other, and those of others, have one time. Waits are exact. */
export const coarseClock = (clock: VirtualClock, stepMs: number): VirtualClock => {
  const nowMs = () => Math.floor(clock.nowMs() / stepMs) * stepMs;
  return { ...clock, nowMs, now: () => new Date(nowMs()) };
};
