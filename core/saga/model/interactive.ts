/** Sagas whose steps are submitted one by one while they run. */
/** The rules as a caller asks for them. */
export interface AskedPolicy {
  idleTimeoutSeconds?: number;
  onIdle: 'unwind' | 'ask';
  approvalTimeoutSeconds?: number;
  allowIrreversible?: string[];
}

/** Chosen by whoever starts the saga. It never changes. */
export interface InteractivePolicy {
  /** It waits this long for the next step. */
  idleTimeoutSeconds: number;
  /** What happens after that: `unwind` takes everything back, `ask` asks people. */
  onIdle: 'unwind' | 'ask';
  /** How long people have to answer an approval. */
  approvalTimeoutSeconds: number;
  /** Irreversible tools that need no approval. */
  allowIrreversible?: string[];
  /** It ends with its first step: one call of a tool, and no plan. */
  single?: true;
}
