/** Numbers of the reports. */

export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;
export const rate = (count: number, ms: number): string => ((count * 1000) / ms).toFixed(1);
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
