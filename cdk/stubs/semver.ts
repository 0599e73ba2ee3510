/**
 * Stands in a bundle for `semver`, with which the X-Ray package checks the version of an AWS SDK from before
 * 2022 when it is told to capture one. Walkback has no such SDK, and the package has 70 KB.
 */
const refuse = (): never => {
  throw new Error('semver is not bundled');
};

// oxlint-disable-next-line import/no-default-export -- as the package has it
export default { gte: refuse, lt: refuse, satisfies: refuse };
