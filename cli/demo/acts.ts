/**
 * The names of the demo's acts, in the order in which they are played. This file imports nothing, because the
 * command's help needs it.
 */
export const ACTS = ['checkpoints', 'refund', 'gang', 'changesets'] as const;
export type ActName = (typeof ACTS)[number];

/** The acts that are played when none is named. The act that is left out takes longer than these together. */
export const PLAYED: readonly ActName[] = ['checkpoints', 'refund', 'gang'];

export const isAct = (name: string): name is ActName => ACTS.some((act) => act === name);
