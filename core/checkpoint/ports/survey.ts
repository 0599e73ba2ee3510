/** The answer to a look at the repositories of a sandbox. */
import type { RepositoryInfo, Uncaptured } from '../../../contract/checkpoint-answers.ts';

export interface SurveyReport {
  repositories: RepositoryInfo[];
  skipped: Uncaptured[];
}
