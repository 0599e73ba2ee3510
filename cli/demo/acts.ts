/** The names of the demo's acts, in the order in which they are played. Without imports: the command's help needs them. */
export const ACTS = ['checkpoints', 'refund', 'gang', 'changesets'] as const;
export type ActName = (typeof ACTS)[number];

/** Those that are played when none is named. The last one takes longer than they do together. */
export const PLAYED: readonly ActName[] = ['checkpoints', 'refund', 'gang'];

export const isAct = (name: string): name is ActName => ACTS.some((act) => act === name);
