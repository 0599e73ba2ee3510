/**
 * Contradictions that the declaration of a tool may not have. The kit refuses them where a tool is written,
 * the catalog where it is stored (S8). Pure.
 */
import type { AmountDirection } from '../../../contract/amount-direction.ts';
import type { EffectKind } from '../model/tool.ts';

export interface DeclaredTool {
  effect: EffectKind;
  resourceKey?: string | undefined;
  exclusive?: boolean | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  amountDirection?: AmountDirection | undefined;
  minorUnits?: boolean | undefined;
  compensation?: { amount?: string | undefined; currency?: string | undefined } | undefined;
}

/** Finance adds up the amounts, so no part of one is guessed. */
const priceViolations = (tool: DeclaredTool): string[] => {
  const { effect, amount, currency, amountDirection, minorUnits, compensation } = tool;
  const problems: string[] = [];
  const undone = compensation?.amount ?? compensation?.currency;
  if ((amount === undefined) !== (currency === undefined)) {
    problems.push('it has one of amount and currency; give both');
  }
  if (amount !== undefined && amountDirection === undefined) {
    problems.push('it has an amount and no amountDirection; give it in, out or neither');
  }
  if (amount === undefined && amountDirection !== undefined) {
    problems.push('it has an amountDirection and no amount; give it one');
  }
  if (amount === undefined && (undone !== undefined || minorUnits === true)) {
    problems.push(
      'its compensator has an amount, or it has minorUnits, and no amount of its own; give it one',
    );
  }
  if (amount !== undefined && effect === 'read') {
    problems.push('it is read and has an amount; only what changes something moves money');
  }
  if (amount !== undefined && effect === 'partial' && compensation?.amount === undefined) {
    problems.push('it is partial and has an amount; its compensator needs one too: how much is taken back');
  }
  return problems;
};

/** The rules that the tool breaks, one sentence each. */
export const contradictions = (tool: DeclaredTool): string[] => {
  const mutating = tool.effect === 'compensatable' || tool.effect === 'partial';
  const problems: string[] = [];
  if (mutating && tool.compensation === undefined) {
    problems.push('it changes something and has no compensator; give it one or declare it irreversible');
  }
  if (!mutating && tool.compensation !== undefined) {
    problems.push(`it is ${tool.effect} and has a compensator; declare it compensatable or partial`);
  }
  if (tool.exclusive === true && tool.resourceKey === undefined) {
    problems.push('it is exclusive and has no resourceKey; say which resource it needs for itself');
  }
  return [...problems, ...priceViolations(tool)];
};
