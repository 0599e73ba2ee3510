/** Every function, as data: one Lambda per row, granted exactly what the row says. test/infra/grants.test.ts holds the rows
 * against the calls the functions really make. */

export type TableAction = 'GetItem' | 'Query' | 'Scan' | 'PutItem' | 'UpdateItem' | 'BatchWriteItem';

/** Who may call a function; `internal`: only the machine, rules and streams of the construct. */
type Caller = 'agent-backend' | 'reviewer' | 'operator' | 'internal';

export interface FunctionRow {
  /** Deployed as `<prefix>-<name>` from `functions/<name>.ts`. */
  name: string;
  description: string;
  callers: readonly Caller[];
  timeoutSeconds: number;
  /** On the Sessions table. */
  sessions?: readonly TableAction[];
  /** On the Sagas table. */
  sagas?: readonly TableAction[];
  /** On the Ledger table: whatever the row, never anything that changes or deletes an entry (S10). */
  ledger?: readonly ('GetItem' | 'Query' | 'PutItem')[];
  /** Queries these indexes too. */
  indexes?: readonly ('sagas' | 'ledger')[];
  bucket?: 'restore' | 'capture' | 'delete';
  /** Talks to E2B, so it may read the API key. */
  sandbox?: true;
  publishesEvents?: true;
  /** What it asks of Step Functions. */
  engine?: readonly EngineAction[];
  /** The table whose stream feeds it. */
  stream?: 'sessions' | 'sagas';
  /** Where the handler is, when it is not `functions/<name>.ts`. */
  entry?: string;
  /** A tool of the examples: only where they are wanted. */
  tool?: true;
  /** Looks at the timeouts of the functions that serve tools. */
  looksAtTools?: true;
  /** Calls tools over HTTP: sagas may call it, and it may read what calls are signed with. */
  httpTool?: true;
}

export type EngineAction = 'StartExecution' | 'DescribeExecution' | 'SendTaskSuccess';

/** Lambda's longest: a capture or restore of large repositories is one call. */
const LONGEST_SECONDS = 900;
/** Shorter than the 60 s of the states that call these, so that the function's own error is what the machine sees. */
const STATE_FUNCTION_SECONDS = 50;

const CAPTURE: readonly TableAction[] = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'BatchWriteItem'];
const MOVE = { sagas: ['GetItem', 'PutItem'], ledger: ['GetItem', 'PutItem'] } as const;
/** Reads the whole ledger of a saga too. */
const MOVE_AND_LIST = { ...MOVE, ledger: [...MOVE.ledger, 'Query'] } as const;

const sessionRows: readonly FunctionRow[] = [
  {
    name: 'start-session',
    description: 'Starts a session and takes its baseline checkpoint',
    callers: ['agent-backend'],
    sessions: CAPTURE,
    bucket: 'capture',
    sandbox: true,
    timeoutSeconds: LONGEST_SECONDS,
  },
  {
    name: 'checkpoint',
    description: 'Captures all repositories of a session',
    callers: ['agent-backend'],
    sessions: CAPTURE,
    bucket: 'capture',
    sandbox: true,
    timeoutSeconds: LONGEST_SECONDS,
  },
  {
    name: 'rollback',
    description: 'Puts all repositories of a session back to a checkpoint',
    callers: ['agent-backend'],
    sessions: CAPTURE,
    bucket: 'capture',
    sandbox: true,
    timeoutSeconds: LONGEST_SECONDS,
  },
  {
    name: 'rehydrate',
    description: 'Rebuilds a checkpoint in a fresh sandbox',
    callers: ['agent-backend', 'reviewer'],
    sessions: CAPTURE,
    bucket: 'restore',
    sandbox: true,
    timeoutSeconds: LONGEST_SECONDS,
  },
  {
    name: 'timeline',
    description: 'Answers the tree of checkpoints of a session',
    callers: ['agent-backend', 'reviewer', 'operator'],
    sessions: ['GetItem', 'Query'],
    timeoutSeconds: 60,
  },
  {
    name: 'context',
    description: "Writes the agent's system prompt text about its repositories",
    callers: ['agent-backend'],
    sessions: ['GetItem'],
    sandbox: true,
    timeoutSeconds: 300,
  },
  {
    name: 'diff',
    description: 'Compares two checkpoints of a session',
    callers: ['agent-backend', 'reviewer'],
    sessions: ['GetItem', 'Query'],
    sandbox: true,
    timeoutSeconds: 300,
  },
  {
    name: 'list-sessions',
    description: 'Lists sessions',
    callers: ['reviewer', 'operator'],
    sessions: ['Scan'],
    timeoutSeconds: 60,
  },
  {
    name: 'end-session',
    description: 'Ends a session and starts its retention',
    callers: ['agent-backend'],
    sessions: CAPTURE,
    timeoutSeconds: 60,
  },
  {
    name: 'publish-events',
    description: 'Turns changes of the Sessions table into events and deletes expired bundles',
    callers: ['internal'],
    sessions: ['GetItem', 'Query'],
    bucket: 'delete',
    publishesEvents: true,
    stream: 'sessions',
    timeoutSeconds: 60,
  },
];

const sagaRows: readonly FunctionRow[] = [
  {
    name: 'start-saga',
    description: 'Checks, pins and starts a saga',
    callers: ['agent-backend'],
    sagas: ['GetItem', 'PutItem', 'BatchWriteItem'],
    ledger: ['PutItem'],
    engine: ['StartExecution'],
    timeoutSeconds: 60,
  },
  {
    name: 'describe-saga',
    description: 'Answers what a saga did',
    callers: ['agent-backend', 'reviewer', 'operator'],
    sagas: ['GetItem'],
    ledger: ['Query'],
    // Longer than the 600 s a caller may ask it to wait.
    timeoutSeconds: LONGEST_SECONDS,
  },
  {
    name: 'answer',
    description: 'Records the answer to an approval',
    callers: ['reviewer'],
    ...MOVE_AND_LIST,
    engine: ['SendTaskSuccess'],
    timeoutSeconds: 60,
  },
  {
    name: 'operate-saga',
    description: 'Cancels a saga, or works what a failed compensation left',
    callers: ['operator'],
    ...MOVE,
    engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    timeoutSeconds: 60,
  },
  {
    name: 'query-ledger',
    description: 'Answers ledger entries',
    callers: ['reviewer', 'operator'],
    sagas: ['GetItem'],
    ledger: ['Query'],
    indexes: ['sagas', 'ledger'],
    timeoutSeconds: 60,
  },
  {
    name: 'list-sagas',
    description: 'Lists sagas',
    callers: ['reviewer', 'operator'],
    sagas: ['GetItem'],
    indexes: ['sagas'],
    timeoutSeconds: 60,
  },
  {
    name: 'list-catalog',
    description: 'Lists tools and templates',
    callers: ['agent-backend', 'operator'],
    sagas: ['Query'],
    timeoutSeconds: 60,
  },
  {
    name: 'put-catalog',
    description: 'Stores tools and templates',
    callers: ['operator'],
    sagas: ['GetItem', 'PutItem'],
    looksAtTools: true,
    timeoutSeconds: 60,
  },
  {
    name: 'advance-saga',
    description: 'Moves a saga: the state Advance of the machine',
    callers: ['internal'],
    ...MOVE_AND_LIST,
    engine: ['StartExecution'],
    timeoutSeconds: STATE_FUNCTION_SECONDS,
  },
  {
    name: 'announce-await',
    description: 'Keeps the task token of a saga that waits',
    callers: ['internal'],
    sagas: ['GetItem', 'PutItem'],
    engine: ['SendTaskSuccess'],
    timeoutSeconds: STATE_FUNCTION_SECONDS,
  },
  {
    name: 'sweep',
    description: 'Starts sagas again whose execution died',
    callers: ['internal', 'operator'],
    ...MOVE,
    indexes: ['sagas'],
    engine: ['StartExecution', 'DescribeExecution', 'SendTaskSuccess'],
    timeoutSeconds: 300,
  },
  {
    name: 'measure-sagas',
    description: 'Measures open sagas, waits and failed compensations for the alarms',
    callers: ['internal'],
    indexes: ['sagas'],
    timeoutSeconds: 50,
  },
  {
    name: 'publish-saga-events',
    description: 'Turns changes of the Sagas table into events',
    callers: ['internal'],
    publishesEvents: true,
    stream: 'sagas',
    timeoutSeconds: 60,
  },
  {
    name: 'http-tool',
    description: 'Calls tools that are HTTP endpoints',
    callers: ['internal'],
    httpTool: true,
    // It serves tools of every deadline, and ends each call at the deadline itself.
    timeoutSeconds: LONGEST_SECONDS,
  },
  {
    name: 'tool-refund',
    description: 'The tools of the refund example',
    callers: ['internal'],
    entry: 'examples/refund/function.ts',
    tool: true,
    // Longer than the tools' own 30 s, shorter than that plus the engine's slack of 5 s.
    timeoutSeconds: 32,
  },
];

export const FUNCTIONS: readonly FunctionRow[] = [...sessionRows, ...sagaRows];
