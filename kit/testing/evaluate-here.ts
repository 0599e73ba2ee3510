/** Evaluates the expressions of plans and tools that are tested. */
import type { Json } from '../../contract/json.ts';
import { evaluateToText } from '../../core/saga/plan/evaluate.ts';
import type { Evaluate } from '../../core/saga/ports.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

/** Runs in this process, because authors trust the expressions of their own test plans. */
export const evaluateHere: Evaluate = (expressions, scope) =>
  Promise.all(
    expressions.map(async (expression): Promise<Json> => {
      const found = await evaluateToText(expression, scope);
      if ('problem' in found) throw new WalkbackError('ArgumentsUnresolved', found.problem);
      const value: Json = JSON.parse(found.text);
      return value;
    }),
  );
