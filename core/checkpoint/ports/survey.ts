/** The answer to a look at the repositories of a sandbox. */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import type { RepositoryInfo } from '../../../contract/checkpoint-answers.ts';

export interface SurveyReport {
  repositories: RepositoryInfo[];
  skipped: Uncaptured[];
  /** The repository that the projects root lies in. Only looked for where the root holds none. */
  around?: string;
}
