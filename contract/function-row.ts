/** The members of one row of the table of functions. */
import type * as z from 'zod';

export type TableAction =
  | 'GetItem'
  | 'Query'
  | 'BatchGetItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem';
export type EngineAction = 'StartExecution' | 'DescribeExecution' | 'SendTaskSuccess';

/** Who may call a function; `internal`: only the machine, rules and streams of the construct. */
export type Caller = 'agent-backend' | 'reviewer' | 'operator' | 'finance' | 'internal';

/** Everything that a function may access. */
interface Grants {
  /** On the Sessions table. */
  sessions?: readonly TableAction[];
  /** It may find every session, by the index that has nothing else. */
  listsSessions?: true;
  /** It may read the words of every session, by the index that has nothing else. */
  searchesWords?: true;
  /** On the Sagas table. */
  sagas?: readonly TableAction[];
  /**
   * Permits of locks and slots, in the Sagas table. `look`: also takes those out of a line who wait there no
   * longer. `take`: takes them, and gives them back.
   */
  permits?: 'read' | 'look' | 'take';
  /** On the Ledger table: never anything that changes or deletes an entry (S10). */
  ledger?: readonly ('GetItem' | 'Query' | 'PutItem')[];
  /** It may query these indexes too. `days`: of the ledger only the one by day. */
  indexes?: readonly ('sagas' | 'ledger' | 'days')[];
  /** Keeps how its calls stand, in the Sessions table, for those who ask again with the same request id. */
  keepsCalls?: true;
  bucket?: 'restore' | 'capture' | 'delete';
  /** Talks to E2B, so it may read the API key. */
  sandbox?: true;
  publishesEvents?: true;
  /** Knows where the console is, for links. */
  linksToConsole?: true;
  /** Its permissions for Step Functions. */
  engine?: readonly EngineAction[];
  /** The table whose stream feeds it. */
  stream?: 'sessions' | 'sagas';
  /** With `stream`: it gathers changes for so long, or many of them, and takes only those of these items. */
  gathers?: { seconds: number; items: 'heads' | 'checkpoints' };
  /** Writes the ledger's export. */
  exportsLedger?: true;
  /** `write`: keeps digests of the ledger and signs them; `read`: checks them. */
  anchors?: 'write' | 'read';
  /** Finds out which person asks, so it knows the issuer of tokens. */
  identifiesPeople?: true;
  /** Calls the functions that people may call. Deployed only where there is an issuer of tokens. */
  servesPeople?: true;
  /** Keeps who is signed in, so it may read the secret that seals it; and who signed out, in the Sessions table. */
  signsPeopleIn?: true;
  /** Reads the timeouts of the functions that serve tools. */
  looksAtTools?: true;
  /** Calls tools as the machine does. */
  callsTools?: true;
  /** It is a tool itself: sagas may call it, and it reads and writes tombstones. */
  servesTools?: true;
  /** Calls tools over HTTP: sagas may call it, and it may read the secret that signs calls. */
  httpTool?: true;
}

export interface FunctionRow {
  description: string;
  callers: readonly Caller[];
  timeoutSeconds: number;
  grants: Grants;
  /** Where the handler is, when it is not `functions/<name>.ts`. */
  entry?: string;
  /** Absent: it takes an event from AWS. A function, so that no Lambda builds the schemas of all. */
  input?: () => z.ZodType;
  /** Absent: no caller reads the answer. */
  answer?: () => z.ZodType;
}

/** Lambda's longest: a capture or restore of large repositories is one call. */
export const LONGEST_SECONDS = 900;
