/** What a search answers, with names and outputs from a hostile sandbox. */
import type { BisectSessionAnswer } from '../../contract/bisect.ts';

export const bisectAnswer = (more: Partial<BisectSessionAnswer> = {}): BisectSessionAnswer => ({
  sessionId: 's1',
  requestId: 'b1',
  outcome: 'found',
  suspects: [
    {
      sessionId: 's1',
      checkpointId: 'cp-00000007-0badcafe',
      previousCheckpointId: 'cp-00000006-0badcafe',
      previousSessionId: 's1',
      messageId: 'msg-3',
      title: 'Make it\u001b[2J <b>faster</b>',
      role: 'user',
      madeBy: { name: 'Bash', input: '{"command":"sed -i <script> api/sum"}', truncated: false },
      reason: 'before-tool',
      createdAt: '2026-01-02T10:00:00Z',
    },
  ],
  through: [],
  good: {
    sessionId: 's1',
    checkpointId: 'cp-00000006-0badcafe',
    verdict: 'good',
    exitCode: 0,
    milliseconds: 1_200,
    output: '',
    isCut: false,
  },
  bad: {
    sessionId: 's1',
    checkpointId: 'cp-00000007-0badcafe',
    verdict: 'bad',
    exitCode: 1,
    milliseconds: 900,
    output: 'expected 5\u001b[31m\n<img src=x> -1\n',
    isCut: false,
  },
  tried: [
    {
      sessionId: 's1',
      checkpointId: 'cp-00000001-0badcafe',
      verdict: 'good',
      exitCode: 0,
      milliseconds: 1_000,
    },
    {
      sessionId: 's1',
      checkpointId: 'cp-00000004-0badcafe',
      verdict: 'skipped',
      exitCode: null,
      milliseconds: 0,
      note: 'no copy of it can be made (BundleMissing)',
    },
    {
      sessionId: 's1',
      checkpointId: 'cp-00000006-0badcafe',
      verdict: 'good',
      exitCode: 0,
      milliseconds: 1_200,
    },
    { sessionId: 's1', checkpointId: 'cp-00000007-0badcafe', verdict: 'bad', exitCode: 1, milliseconds: 900 },
  ],
  checkpoints: 12,
  ...more,
});
