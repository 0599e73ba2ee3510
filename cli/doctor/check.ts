/** A check of the doctor: what was looked at, what was found, and what to do if that is not enough. */
export interface Check {
  id: string;
  ok: boolean;
  found: string;
  /** Empty when nothing needs to be done. */
  advice: string;
}

export const check = (id: string, ok: boolean, found: string, advice: string): Check => ({
  id,
  ok,
  found,
  advice: ok ? '' : advice,
});
