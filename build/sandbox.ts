/**
 * `npm run build:sandbox`: the sandbox program for each architecture, into `sandbox/prebuilt`.
 * `npm run check:sandbox` (`--check`): format, lints, tests and licences of the crate, and whether what is committed is
 * what its sources build, byte for byte; also those of the tracer that the tests use. Where cargo is missing, it says what it left out.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ARCHITECTURES, readProgramBuild } from '../adapters/git/program/build.ts';
import { checkTracer, isTracedHere, tracerPackages } from './faults-program.ts';
import { isAllowedLicence } from './licence.ts';
import {
  binaryPath,
  buildBinary,
  cargo,
  completeToolchain,
  hasCargo,
  PREBUILT,
  packagesOf,
  sha256,
  sourcesHash,
  testCrate,
  testEmulated,
} from './sandbox-program.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const writeBinaries = (): void => {
  mkdirSync(PREBUILT, { recursive: true });
  const binaries = ARCHITECTURES.map((architecture) => {
    const bytes = buildBinary(architecture);
    const path = binaryPath(architecture);
    writeFileSync(path, bytes);
    chmodSync(path, 0o755);
    say(`${path}  ${bytes.length} bytes`);
    return [architecture, sha256(bytes)] as const;
  });
  const manifest = { build: sourcesHash(), binaries: Object.fromEntries(binaries) };
  writeFileSync(join(PREBUILT, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
};

const checkCrate = (): string[] => {
  cargo(['fmt', '--check']);
  cargo(['clippy', '--locked', '--quiet', '--all-targets', '--', '-D', 'warnings']);
  testCrate();
  if (!testEmulated())
    say('Skipped, because qemu-aarch64-static is missing: the tests of the crate did not run as arm64.');
  if (isTracedHere) checkTracer();
  else say('Skipped, because this is not Linux on x86_64: the crate in sandbox/faults was not checked.');
  return [...packagesOf(), ...tracerPackages()]
    .filter(({ license }) => !isAllowedLicence(license))
    .map(({ name, version, license }) => `${name} ${version} has the licence ${license ?? 'none'}`);
};

const checkBinaries = (canBuild: boolean): string[] => {
  const recorded = readProgramBuild();
  const wrong = recorded.build === sourcesHash() ? [] : ['sandbox/prebuilt was built from other sources'];
  for (const architecture of ARCHITECTURES) {
    const committed = sha256(readFileSync(binaryPath(architecture)));
    if (recorded.digests[architecture] !== committed)
      wrong.push(`${binaryPath(architecture)} is not what the manifest names`);
    if (canBuild && sha256(buildBinary(architecture)) !== committed)
      wrong.push(`${binaryPath(architecture)} is not what its sources build here`);
  }
  return wrong.length === 0 ? [] : [...wrong, 'Run npm run build:sandbox, and commit what it writes.'];
};

completeToolchain();
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
if (values.check) {
  const canBuild = hasCargo();
  const wrong = [...(canBuild ? checkCrate() : []), ...checkBinaries(canBuild)];
  if (!canBuild)
    say(
      'Skipped, because cargo is missing: the crate in sandbox was not checked, and its binaries were not built again.',
    );
  for (const line of wrong) say(line);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} else writeBinaries();
