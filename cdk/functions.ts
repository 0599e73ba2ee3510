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
  /** Sagas and Ledger tables; `tombstones`: what a tool needs of them. */
  sagas?: 'read' | 'write' | 'tombstones';
  /** Starts, looks at and wakes executions. */
  engine?: true;
  /** Signs calls of HTTP tools. */
  httpToolSecret?: true;
  /** Fed by the Sagas table's stream. */
  consumesSagaStream?: true;
  /** Where the handler is, when it is not `functions/<name>.ts`. */
  entry?: string;
  /** Part of the examples: only in a stack that wants them. */
  example?: true;
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
  {
    name: 'start-saga',
    description: 'Checks, pins and starts a saga',
    sagas: 'write',
    engine: true,
    timeoutSeconds: 60,
  },
  { name: 'describe-saga', description: 'Answers what a saga did', sagas: 'read', timeoutSeconds: LONGEST },
  {
    name: 'answer',
    description: 'Records the answer to an approval',
    sagas: 'write',
    engine: true,
    timeoutSeconds: 60,
  },
  {
    name: 'operate-saga',
    description: 'Cancels a saga, or works what a failed compensation left',
    sagas: 'write',
    engine: true,
    timeoutSeconds: 60,
  },
  { name: 'query-ledger', description: 'Answers ledger entries', sagas: 'read', timeoutSeconds: 60 },
  { name: 'list-sagas', description: 'Lists sagas', sagas: 'read', timeoutSeconds: 60 },
  { name: 'list-catalog', description: 'Lists tools and templates', sagas: 'read', timeoutSeconds: 60 },
  { name: 'put-catalog', description: 'Stores tools and templates', sagas: 'write', timeoutSeconds: 60 },
  {
    name: 'advance-saga',
    description: 'Moves a saga: the state Advance of the machine',
    sagas: 'write',
    engine: true,
    // Shorter than the state's timeout of 60 s.
    timeoutSeconds: 50,
  },
  {
    name: 'announce-await',
    description: 'Keeps the task token of a saga that waits',
    sagas: 'write',
    engine: true,
    timeoutSeconds: 50,
  },
  {
    name: 'sweep',
    description: 'Starts sagas again whose execution died',
    sagas: 'write',
    engine: true,
    timeoutSeconds: 300,
  },
  {
    name: 'publish-saga-events',
    description: 'Turns changes of the Sagas table into events',
    publishesEvents: true,
    consumesSagaStream: true,
    timeoutSeconds: 60,
  },
  {
    name: 'http-tool',
    description: 'Calls tools that are HTTP endpoints',
    sagas: 'tombstones',
    httpToolSecret: true,
    // It serves tools of every deadline, and ends each call at the deadline itself.
    timeoutSeconds: LONGEST,
  },
  {
    name: 'tool-refund',
    description: 'The tools of the refund example',
    sagas: 'tombstones',
    entry: 'examples/refund/function.ts',
    example: true,
    // Shorter than the tools' own 30 s plus the engine's slack of 5 s.
    timeoutSeconds: 32,
  },
];
