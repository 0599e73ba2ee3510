/** Remembers who signed out, for all instances, until the browser's old session is over anyway. */
export interface SignOuts {
  /** `id`: of the sign-in. From now on nobody gets in with it. At `untilMs` it ends by itself. */
  add(id: string, untilMs: number): Promise<void>;
  has(id: string): Promise<boolean>;
}
