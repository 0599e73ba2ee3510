/** What a look at the repositories of a sandbox answers. */
import type { RepositoryInfo, Uncaptured } from '../../../contract/checkpoint-answers.ts';

export interface SurveyReport {
  repositories: RepositoryInfo[];
  skipped: Uncaptured[];
}
