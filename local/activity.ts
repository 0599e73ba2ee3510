/** When somebody outside last asked for something. A daemon that nobody uses ends by itself. */

export interface Activity {
  /** Marks work as under way until the returned function is called. */
  begin(): () => void;
  /** 0 while anything is under way. */
  idleForMs(): number;
}

export const createActivity = (now: () => number = Date.now): Activity => {
  let lastMs = now();
  let underway = 0;
  const begin = (): (() => void) => {
    underway += 1;
    return () => {
      underway -= 1;
      lastMs = now();
    };
  };
  return {
    begin,
    idleForMs: () => (underway > 0 ? 0 : now() - lastMs),
  };
};
