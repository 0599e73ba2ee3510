/** Sagas whose steps are submitted one by one while they run. */
/** The rules as they are asked for. */
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
  /** Then: `unwind` takes everything back, `ask` asks people. */
  onIdle: 'unwind' | 'ask';
  /** How long people have for an approval. */
  approvalTimeoutSeconds: number;
  /** Irreversible tools that need no approval. */
  allowIrreversible?: string[];
  /** It ends with its first step: one call of a tool, and no plan. */
  single?: true;
}
