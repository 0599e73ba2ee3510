/** What goes back in a rewind; for the files alone there is a rollback. Of a saga, `all` is its effects. */
export const REWIND_SCOPES = ['all', 'effects', 'conversation'] as const;
export type RewindScope = (typeof REWIND_SCOPES)[number];
