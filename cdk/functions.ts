/** Every function of the stack, as data: the stack makes one Lambda per row and grants what the row says. */
export interface FunctionRow {
  /** Deployed as `walkback-<name>` from `functions/<name>.ts`. */
  name: string;
  description: string;
  /** `list`: read, and walk over all sessions. */
  table?: 'read' | 'list' | 'write';
  bucket?: 'write' | 'delete';
  /** Talks to E2B, so it may read the API key. */
  sandbox?: true;
  publishesEvents?: true;
  /** Fed by the Sessions table's stream. */
  consumesStream?: true;
  timeoutSeconds: number;
}

/** Lambda's longest: a capture or restore of large repositories is one call. */
const LONGEST = 900;

export const FUNCTIONS: readonly FunctionRow[] = [
  {
    name: 'start-session',
    description: 'Starts a session and takes its baseline checkpoint',
    table: 'write',
    bucket: 'write',
    sandbox: true,
    timeoutSeconds: LONGEST,
  },
  {
    name: 'checkpoint',
    description: 'Captures all repositories of a session',
    table: 'write',
    bucket: 'write',
    sandbox: true,
    timeoutSeconds: LONGEST,
  },
  {
    name: 'rollback',
    description: 'Puts all repositories of a session back to a checkpoint',
    table: 'write',
    bucket: 'write',
    sandbox: true,
    timeoutSeconds: LONGEST,
  },
  {
    name: 'rehydrate',
    description: 'Rebuilds a checkpoint in a fresh sandbox',
    table: 'write',
    bucket: 'write',
    sandbox: true,
    timeoutSeconds: LONGEST,
  },
  {
    name: 'timeline',
    description: 'Answers the tree of checkpoints of a session',
    table: 'read',
    timeoutSeconds: LONGEST,
  },
  {
    name: 'context',
    description: "Writes the agent's system prompt text about its repositories",
    table: 'read',
    sandbox: true,
    timeoutSeconds: LONGEST,
  },
  {
    name: 'diff',
    description: 'Compares two checkpoints of a session',
    table: 'read',
    sandbox: true,
    timeoutSeconds: LONGEST,
  },
  {
    name: 'list-sessions',
    description: 'Lists sessions',
    table: 'list',
    timeoutSeconds: LONGEST,
  },
  {
    name: 'end-session',
    description: 'Ends a session and starts its retention',
    table: 'write',
    timeoutSeconds: LONGEST,
  },
  {
    name: 'publish-events',
    description: 'Turns changes of the Sessions table into events and deletes expired bundles',
    table: 'read',
    bucket: 'delete',
    publishesEvents: true,
    consumesStream: true,
    timeoutSeconds: 60,
  },
];
