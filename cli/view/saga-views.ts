import type { SagaSummary } from '../../core/saga/list-sagas.ts';
import type { SagaStatus } from '../../core/saga/model.ts';
import type { Observation, ObservedStep } from '../../core/saga/observation.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime, printableLine } from '../terminal/text.ts';

export const statusWord = (status: SagaStatus, paint: Paint): string => {
  switch (status) {
    case 'COMPLETED':
      return paint.green(status);
    case 'COMPENSATION_FAILED':
      return paint.red(status);
    case 'AWAITING':
    case 'COMPENSATED':
      return paint.yellow(status);
    case 'RUNNING':
    case 'COMPENSATING':
    case 'PAUSED':
      return paint.cyan(status);
  }
};

const line = (
  mark: string,
  { step, tool, externalRef }: ObservedStep,
  more: string,
  paint: Paint,
): string => {
  const reference = externalRef === null ? paint.dim('no reference') : printableLine(externalRef);
  const tail = more === '' ? '' : `  ${printableLine(more)}`;
  return `  ${mark} ${printableLine(step)} ${paint.dim(printableLine(tool))}  ${reference}${tail}`;
};

/** The answer of `walkback saga show`: what stands, what was undone, what remains. */
export const observationText = (seen: Observation, paint: Paint): string => {
  const left = new Set(seen.notCompensated.map(({ step }) => step));
  const standing = seen.committed.filter(({ step }) => !left.has(step));
  const { failed, awaiting } = seen;
  const lines = [
    `Saga ${paint.bold(printableLine(seen.sagaId))}  ${statusWord(seen.status, paint)}`,
    ...(failed === undefined
      ? []
      : [
          paint.red(
            `  ${failed.step ?? 'saga'}: ${printableLine(`${failed.error.name}: ${failed.error.message}`)}`,
          ),
        ]),
    ...(awaiting === undefined
      ? []
      : [
          `  waits for approval of ${paint.bold(printableLine(awaiting.step))} until ${awaiting.until}  ${printableLine(awaiting.prompt ?? '')}`,
        ]),
    ...standing.map((one) => line(paint.green('✔'), one, '', paint)),
    ...seen.compensated.map((one) =>
      line(
        paint.yellow('↩'),
        one,
        one.byHand === undefined ? (one.residue ?? 'undone') : `by hand: ${one.byHand}`,
        paint,
      ),
    ),
    ...seen.notCompensated.map((one) => line(paint.red('✖'), one, one.reason, paint)),
    paint.dim(`  ${seen.advice}`),
  ];
  return `${lines.join('\n')}\n`;
};

export const sagaTable = (sagas: readonly SagaSummary[], paint: Paint, now: Date): string => {
  if (sagas.length === 0) return 'No sagas.\n';
  const columns = [
    { head: 'SAGA' },
    { head: 'STATUS' },
    { head: 'TEMPLATE' },
    { head: 'STEPS', align: 'right' as const },
    { head: 'FAILURE' },
    { head: 'UPDATED' },
  ];
  const rows = sagas.map((saga) => [
    printableLine(saga.sagaId),
    statusWord(saga.status, paint),
    printableLine(saga.definition ?? '-'),
    `${saga.started}/${saga.steps}`,
    printableLine(saga.failure ?? '-'),
    formatTime(saga.updatedAt, now),
  ]);
  return table(columns, rows, paint);
};
