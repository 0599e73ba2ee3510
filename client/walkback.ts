/** The client: one object for a deployment, or for the embedded cloud of this machine. */
import { type Connection, type ConnectOptions, connect } from './connect.ts';
import { requireOnly } from './given.ts';
import { type CallOptions, createInvoke, type Invoke } from './invoke.ts';
import { keepConnection } from './keep-connection.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Answer, Request } from './requests.ts';
import type { CheckpointWarning, OnCheckpointError } from './run.ts';
import { createSagas, type Sagas } from './sagas.ts';
import type { Redact } from './said.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createTools, type Tools } from './tools.ts';
import { pause } from './waiting.ts';

export interface WalkbackOptions extends ConnectOptions {
  /** The deployment's name prefix, when it is not `walkback`. Default: on AWS `WALKBACK_NAME_PREFIX`. */
  namePrefix?: string;
  /** Ends every call of this client, and its runs. */
  signal?: AbortSignal;
  /** What becomes of a tool whose checkpoint failed. Default `block`: it does not run. */
  onCheckpointError?: OnCheckpointError;
  /** With `warn`: called for each tool that ran without a checkpoint. Default: a warning of the process. */
  onWarning?: (warning: CheckpointWarning) => void;
  /**
   * Changes the texts of messages and the inputs of tools before they are sent with a checkpoint, to be read
   * later. Take secrets out here. Default: they are sent as they are, up to 32 Ki characters. `false`: none
   * is sent.
   */
  redact?: Redact;
}

const warnProcess = ({ call, error }: CheckpointWarning): void => {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  process.emitWarning(`${call.name} ran without a checkpoint before it: ${reason}`, 'WalkbackWarning');
};

/** Undo for agents: sessions with checkpoints, and sagas. Connects with its first call. */
export class Walkback {
  readonly sessions: Sessions;
  readonly sagas: Sagas;
  readonly tools: Tools;
  readonly ledger: Ledger;
  /**
   * Checks whether a sandbox, or one made of a template, has what work in it needs. Answers every check, each
   * with what to do.
   */
  readonly preflight: (request: Request<'preflight'>, call?: CallOptions) => Promise<Answer<'preflight'>>;
  /** Calls any function of the contract by its name, with its types, retries and errors. */
  readonly invoke: Invoke;
  /** How the functions are reached, for code that builds on the client. */
  readonly connection: () => Promise<Connection>;
  /** Closes the connections. What runs goes on running. */
  readonly close: () => Promise<void>;

  constructor(options: WalkbackOptions = {}) {
    requireOnly('new Walkback', options, {
      'region?': 'text',
      'endpoint?': 'text',
      'credentials?': 'any',
      'client?': 'object',
      'start?': 'boolean',
      'dataDir?': 'text',
      'namePrefix?': 'text',
      'signal?': 'signal',
      'onCheckpointError?': 'mode',
      'onWarning?': 'function',
      'redact?': 'redaction',
    });
    const { signal, onCheckpointError = 'block', onWarning = warnProcess } = options;
    const { redact = (text: string) => text } = options;
    const { connection, reconnect, close } = keepConnection(() =>
      connect(options, process.env, process.cwd()),
    );
    this.close = close;
    this.connection = connection;
    this.invoke = createInvoke({
      connection,
      reconnect,
      // The prefix in the environment belongs to a deployment; an embedded cloud has none.
      namePrefix: ({ sandboxes }) =>
        options.namePrefix ??
        ((sandboxes === undefined && process.env['WALKBACK_NAME_PREFIX']) || 'walkback'),
      signal,
      sleep: pause,
      random: Math.random,
    });
    const common = { invoke: this.invoke, signal, onCheckpointError, onWarning, redact };
    this.sessions = createSessions({
      ...common,
      sandboxes: async () => (await connection()).sandboxes,
    });
    this.preflight = (request, call) => this.invoke('preflight', request, call);
    this.sagas = createSagas(this.invoke);
    this.tools = createTools(this.invoke);
    this.ledger = createLedger(this.invoke);
  }
}
