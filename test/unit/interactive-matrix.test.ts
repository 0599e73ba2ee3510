import { interactiveCases, testInteractive } from '../support/interactive-matrix.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';

testInteractive(
  sampled(interactiveCases, {
    every: 49,
    minimum: WHOLE ? 400 : 10,
    offset: printedSeed('interactive sagas'),
  }),
);
