/** The exit codes of the command. `walkback --help` prints this table, and docs/cli.md has it. */
interface ExitCode {
  code: number;
  meaning: string;
}

export const EXIT_CODES = {
  ok: { code: 0, meaning: 'done' },
  failed: { code: 1, meaning: 'failed; the message says what is left as it was' },
  usage: { code: 2, meaning: 'wrong usage or input' },
  notFound: { code: 3, meaning: 'no such session, message, checkpoint, sandbox, saga or directory' },
  conflict: {
    code: 4,
    meaning: 'refused as things stand: stale epoch, another rollback, a declined approval',
  },
  unavailable: {
    code: 5,
    meaning: 'it still runs, or a service did not answer; the same call may work later',
  },
  notRestorable: { code: 6, meaning: 'the checkpoint is incomplete, or its data is missing or damaged' },
  configuration: { code: 7, meaning: 'this machine or account is not set up' },
  interrupted: { code: 130, meaning: 'interrupted' },
} as const satisfies Record<string, ExitCode>;

export type ExitCodeName = keyof typeof EXIT_CODES;
