/** A clock whose time moves only on command. Postponed actions run when the clock passes their time. */
export const virtualClock = (startMs = Date.now()) => {
  let nowMs = startMs;
  const due: { atMs: number; act: () => Promise<unknown> }[] = [];
  const advance = async (ms: number): Promise<void> => {
    const end = nowMs + ms;
    for (;;) {
      const next = due.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      due.splice(due.indexOf(next), 1);
      nowMs = Math.max(nowMs, next.atMs);
      await next.act();
    }
    nowMs = end;
  };
  return {
    now: () => new Date(nowMs),
    nowMs: () => nowMs,
    sleep: advance,
    advance,
    later: (ms: number, act: () => Promise<unknown>) => void due.push({ atMs: nowMs + ms, act }),
  };
};

export type VirtualClock = ReturnType<typeof virtualClock>;
