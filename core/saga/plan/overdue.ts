/** What a start says about templates and tools whose review is overdue. The saga starts all the same. */
import { daysToReview } from './catalog.ts';

interface Entry {
  name: string;
  version: string;
  reviewBy?: string;
}

/** Most names in the warning. A plan may use hundreds; the catalog lists them all. */
const MOST_NAMED = 10;

const warningsOf = (kind: 'Template' | 'Tool', entries: readonly Entry[], now: Date): string[] => {
  const overdue = entries.flatMap(({ name, version, reviewBy }) =>
    reviewBy !== undefined && daysToReview(reviewBy, now) < 0
      ? [`${kind} ${name}@${version} is past its review date ${reviewBy}.`]
      : [],
  );
  const said = [...new Set(overdue)];
  const more = said.length - MOST_NAMED;
  if (more <= 0) return said;
  return [
    ...said.slice(0, MOST_NAMED),
    `${more} more are past their review date: walkback catalog review lists them.`,
  ];
};

export const overdueWarnings = (
  { templates, tools }: { templates: readonly Entry[]; tools: readonly Entry[] },
  now: Date,
): string[] => [...warningsOf('Template', templates, now), ...warningsOf('Tool', tools, now)];
