/**
 * Which way the money of an effect goes, seen from whoever runs the saga: a charge is `in`, a refund is `out`. `neither`: the
 * amount is only booked or reserved.
 */
export const AMOUNT_DIRECTIONS = ['in', 'out', 'neither'] as const;
export type AmountDirection = (typeof AMOUNT_DIRECTIONS)[number];

const REVERSED = { in: 'out', out: 'in', neither: 'neither' } as const;

/** The way the money goes when the effect is taken back. */
export const reversed = (direction: AmountDirection): AmountDirection => REVERSED[direction];
