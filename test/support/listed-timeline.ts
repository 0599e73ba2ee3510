/** Timelines as `walkback-timeline` lists them. */
export const timeline = (checkpoints: { seq: number; checkpointId: string; messageId?: string }[]) => ({
  session: {
    sessionId: 's',
    headSeq: 2,
    seq: 3,
    epoch: 1,
    status: 'active',
    projectsRoot: '/p',
    sandboxId: 'x',
  },
  checkpoints: checkpoints.map((checkpoint) => ({
    parentSeq: checkpoint.seq === 1 ? null : checkpoint.seq - 1,
    messageId: null,
    reason: 'manual',
    complete: true,
    repositories: [],
    failures: [],
    toolExecutionId: 't',
    createdAt: '2026-01-02T10:00:00Z',
    ...checkpoint,
  })),
  messages: [],
});
