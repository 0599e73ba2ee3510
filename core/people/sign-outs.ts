/** Who signed out, until nobody can come in with what the browser had: all instances know it. */
export interface SignOuts {
  /** `id`: of the sign-in. Nobody comes in with it from here on; it is over by itself at `untilMs`. */
  add(id: string, untilMs: number): Promise<void>;
  has(id: string): Promise<boolean>;
}
