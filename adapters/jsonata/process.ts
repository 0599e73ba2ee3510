/**
 * Evaluates the expressions that it receives. It runs as a separate process, so that it can always be
 * ended.
 */
import { type Evaluated, evaluateToText } from '../../core/saga/plan/evaluate.ts';
import type { Job } from './evaluator.ts';

/** Limit for all results of one job together: far above what arguments may take. */
const MAX_TEXT = 1_000_000;

const evaluateAll = async ({ expressions, scope, longestMs }: Job): Promise<Evaluated[]> => {
  const answers: Evaluated[] = [];
  let left = MAX_TEXT;
  for (const expression of expressions) {
    const { source } = expression;
    const answer = await evaluateToText(expression, scope, longestMs);
    left -= 'text' in answer ? answer.text.length : 0;
    answers.push(
      left < 0 ? { problem: `${source} makes too much: the limit is ${MAX_TEXT} characters` } : answer,
    );
    if (left < 0) break;
  }
  return answers;
};

process.on('message', (job: Job) => {
  void evaluateAll(job).then((answers) => process.send?.({ answers }));
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
