/** Plans of rollbacks on pages of the console, and the forms that they send. */
import { made, NASTY, session, tokenIn } from './console-in-process.ts';

export const rollback = (more: object = {}) => ({
  status: 'PLANNED' as const,
  checkpointId: 'cp-00000001-0123abcd',
  epoch: 1,
  undoCheckpointId: null,
  repositories: [
    {
      path: NASTY,
      written: 1,
      deleted: 0,
      action: 'restored' as const,
      paths: [{ path: NASTY, change: 'write' as const }],
    },
  ],
  discardedMessageIds: [NASTY],
  trimAfterMessageId: null,
  warnings: [NASTY],
  ...more,
});

/** As the function has it: what was done under a request is answered to it again, also as its plan. */
export const keeping = (
  apply: () => object | Promise<object>,
  plan: (requestId: string) => object = () => rollback(),
) => {
  const done = new Map<string, object>();
  return async ({ requestId, dryRun }: { requestId: string; dryRun?: boolean }) => {
    const before = done.get(requestId);
    if (before !== undefined) return before;
    if (dryRun === true) return plan(requestId);
    const applied = await apply();
    done.set(requestId, applied);
    return applied;
  };
};

export const timeline = (more: object = {}) => ({
  session: { ...session('s'), ...more },
  checkpoints: [],
  messages: [],
});

/** Whoever came in looks at a plan. */
export const openPlan = async (asked: string, ...answers: Parameters<typeof made>) => {
  const console = made(...answers);
  const { cookie } = await console.enter();
  const page = await console.fetchOnly(`/sessions/s/plan?${asked}`, { headers: { cookie } });
  return { ...console, cookie, plan: await page.text() };
};

/** As the page of a plan sends it. */
export const formOf = (plan: string) => ({
  form_token: tokenIn(plan),
  digest: digestIn(plan),
  message: 'm',
  checkpoint: checkpointIn(plan),
  request: 'r-1',
});

const checkpointIn = (text: string): string => /name="checkpoint" value="([^"]+)"/.exec(text)?.[1] ?? '';
export const digestIn = (text: string): string => /name="digest" value="([^"]+)"/.exec(text)?.[1] ?? '';
