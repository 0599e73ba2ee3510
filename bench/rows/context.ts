/** The inputs of every benchmark. */
import type { Place } from '../place.ts';
import type { Row } from '../report.ts';

export interface Context {
  place: Place;
  /** Fewer and smaller: to see that it works, not to quote. */
  quick: boolean;
  /** For whoever waits: what is being done. */
  say: (text: string) => void;
}

export interface Benchmark {
  /** For `--only`. */
  name: string;
  title: string;
  run(context: Context): Promise<Row[]>;
}
