/** Options of a test that becomes another user, or looks at what only root may see: shown as skipped for anybody else. */
export const NEEDS_ROOT = { skip: process.getuid?.() !== 0 };
