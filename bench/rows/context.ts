/** The inputs of every benchmark. */
import type { Bundle } from '../../cdk/bundle-sizes.ts';
import type { Place } from '../place.ts';
import type { Row } from '../report.ts';

export interface Context {
  place: Place;
  /** Fewer and smaller: to see that it works, not to quote. */
  quick: boolean;
  /** For whoever waits: what is being done. */
  say: (text: string) => void;
  /** The bundles of a full synth, which is made once for all that want it. */
  bundles: () => Promise<Bundle[]>;
  /** A checkout of another commit, to be measured in the same run. */
  before?: string;
}

/** Of each of the five repositories that most rows measure. */
export const filesOf = (quick: boolean): number => (quick ? 200 : 2_500);

export interface Benchmark {
  /** For `--only`. */
  name: string;
  title: string;
  run(context: Context): Promise<Row[]>;
}
