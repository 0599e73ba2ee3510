/** The names of the demo's acts, in the order in which they are played. Without imports: the command's help needs them. */
export const ACTS = ['checkpoints', 'refund', 'gang', 'changesets'] as const;
export type ActName = (typeof ACTS)[number];

export const isAct = (name: string): name is ActName => ACTS.some((act) => act === name);
