/** Checks whether the members of an operation go together. */
import type { Asked } from '../../../contract/identity.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { requireReason } from './residue.ts';

const checkBreak = ({ action, resourceKey, evidence = '' }: Asked<OperateSagaInput>): void => {
  if ((action === 'break-lock') !== (resourceKey !== undefined)) {
    throw new WalkbackError(
      'InvalidInput',
      'resourceKey: break-lock needs the resource, and nothing else does.',
    );
  }
  if (action === 'break-lock' && evidence.trim() === '') {
    throw new WalkbackError('InvalidInput', 'evidence: break-lock needs a reason.');
  }
};

/** Actions on a step. The others are about the whole saga, whatever step is named. */
const OF_A_STEP: readonly OperateSagaInput['action'][] = ['retry', 'resolve', 'skip'];

/** Throws `InvalidInput`. */
export const checkOperation = (request: Asked<OperateSagaInput>): void => {
  checkBreak(request);
  if (request.stepId !== undefined && !OF_A_STEP.includes(request.action)) {
    throw new WalkbackError(
      'InvalidInput',
      `stepId: ${request.action} is about the whole saga; leave it out. To take back the last steps alone, rewind the saga.`,
    );
  }
  if (request.epoch !== undefined && request.stepId === undefined) {
    throw new WalkbackError('InvalidInput', 'epoch: it is that of a step; name the step too.');
  }
  const ofUndo = request.dryRun ?? request.acceptResidue ?? request.residue;
  if (request.action !== 'undo' && ofUndo !== undefined) {
    throw new WalkbackError('InvalidInput', 'dryRun, acceptResidue and residue belong to the action undo.');
  }
  requireReason('evidence', request, request.evidence);
  if (request.error !== undefined && (request.action !== 'retry' || request.stepId !== undefined)) {
    throw new WalkbackError('InvalidInput', 'error: only a retry without a step can be chosen by it.');
  }
  if ((request.action === 'resolve' || request.action === 'skip') && request.stepId === undefined) {
    throw new WalkbackError('InvalidInput', `stepId: ${request.action} needs the step it is about.`);
  }
  if ((request.action === 'resolve' || request.action === 'skip') && (request.evidence ?? '').trim() === '') {
    const what = request.action === 'resolve' ? 'evidence of what was done by hand' : 'a reason';
    throw new WalkbackError('InvalidInput', `evidence: ${request.action} needs ${what}.`);
  }
};
