/** The shape of every id a caller may choose. Safe in keys, URLs and refs. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;

/** Ids that start with this are made by us (baseline, rollback captures); a caller may not choose one. */
export const RESERVED_ID_PREFIX = 'walkback-';

/** A whole checkpoint id: `cp-<sequence number, 8 to 12 digits>-<8 hex digits>`. */
export const CHECKPOINT_ID_PATTERN = /^cp-\d{8,12}-[0-9a-f]{8}$/;
