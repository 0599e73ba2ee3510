/** A repository in the model of a sandbox. */
export interface FakeRepository {
  files: Record<string, string>;
  head?: string;
}
