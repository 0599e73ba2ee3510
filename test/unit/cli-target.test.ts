import { syncBuiltinESMExports } from 'node:module';
import os, { homedir, userInfo } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { selectTarget } from '../../cli/target/select.ts';
import { dataDirFor } from '../../client/target.ts';
import { userName } from '../../kit/machine-user.ts';

const CWD = '/work/here';

describe('the target', () => {
  test('is the embedded cloud in the state directory by default', () => {
    expect(selectTarget({}, {}, CWD)).toEqual({
      kind: 'local',
      dataDir: `${homedir()}/.local/state/walkback`,
    });
  });

  test('honours --data, then WALKBACK_DATA, then XDG_STATE_HOME', () => {
    const env = { WALKBACK_DATA: 'data', XDG_STATE_HOME: '/state' };
    expect(dataDirFor('/there', env, CWD)).toBe('/there');
    expect(dataDirFor(undefined, env, CWD)).toBe('/work/here/data');
    expect(dataDirFor(undefined, { XDG_STATE_HOME: '/state' }, CWD)).toBe('/state/walkback');
    expect(dataDirFor(undefined, { XDG_STATE_HOME: 'relative' }, CWD)).toBe(
      `${homedir()}/.local/state/walkback`,
    );
  });

  test.each(['AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_REGION', 'AWS_WEB_IDENTITY_TOKEN_FILE'])(
    'is AWS when %s is set, and says because of what',
    (name) => {
      expect(selectTarget({}, { [name]: 'x' }, CWD)).toEqual({ kind: 'aws', because: name });
    },
  );

  test('is not AWS because of an empty variable', () => {
    expect(selectTarget({}, { AWS_PROFILE: '' }, CWD).kind).toBe('local');
  });

  test('is local when forced by --local, --data or WALKBACK_DATA, whatever AWS says', () => {
    const env = { AWS_PROFILE: 'prod' };
    expect(selectTarget({ local: true }, env, CWD).kind).toBe('local');
    expect(selectTarget({ data: 'd' }, env, CWD)).toEqual({ kind: 'local', dataDir: '/work/here/d' });
    expect(selectTarget({}, { ...env, WALKBACK_DATA: '/d' }, CWD).kind).toBe('local');
  });

  test('is AWS with --aws, also without any variable', () => {
    expect(selectTarget({ aws: true }, {}, CWD)).toEqual({ kind: 'aws', because: '--aws' });
  });

  test('is the cloud that the environment names on loopback, but not an endpoint elsewhere', () => {
    const env = { AWS_ACCESS_KEY_ID: 'x', AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:4400' };
    expect(selectTarget({}, env, CWD)).toEqual({ kind: 'environment', endpoint: 'http://127.0.0.1:4400' });
    const far = { ...env, AWS_ENDPOINT_URL_LAMBDA: 'https://lambda.example.com' };
    expect(selectTarget({}, far, CWD).kind).toBe('aws');
  });

  test.each(['notaurl', 'localhost:4400', 'file:///tmp/cloud'])(
    'is not decided by an endpoint that is none: %s',
    (endpoint) => {
      const refused = expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringMatching(/^AWS_ENDPOINT_URL_LAMBDA is no address of http or https/),
      });
      expect(() => selectTarget({}, { AWS_ENDPOINT_URL_LAMBDA: endpoint }, CWD)).toThrow(refused);
      expect(selectTarget({ local: true }, { AWS_ENDPOINT_URL_LAMBDA: endpoint }, CWD).kind).toBe('local');
    },
  );

  test.skipIf(userName() === undefined)(
    'is below the home of the user where HOME is empty, and never below the current directory',
    () => {
      vi.stubEnv('HOME', '');
      try {
        expect(dataDirFor(undefined, {}, CWD)).toBe(`${userInfo().homedir}/.local/state/walkback`);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );

  test('has no home where neither HOME nor a list of users names one, and says what to set', () => {
    const unlisted = () => {
      throw new Error('uv_os_homedir returned ENOENT (no such file or directory)');
    };
    const spies = [vi.spyOn(os, 'homedir'), vi.spyOn(os, 'userInfo')];
    for (const spy of spies) spy.mockImplementation(unlisted);
    syncBuiltinESMExports();
    try {
      expect(() => dataDirFor(undefined, {}, CWD)).toThrow(
        'No home directory is known: set HOME, or name a data directory with WALKBACK_DATA.',
      );
      expect(dataDirFor(undefined, { XDG_STATE_HOME: '/state' }, CWD)).toBe('/state/walkback');
    } finally {
      for (const spy of spies) spy.mockRestore();
      syncBuiltinESMExports();
    }
  });

  test('is absolute where HOME is not, so that a cloud that was started elsewhere is found', () => {
    vi.stubEnv('HOME', 'mine');
    try {
      expect(dataDirFor(undefined, {}, CWD)).toBe('/work/here/mine/.local/state/walkback');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('refuses --aws together with what forces the embedded cloud', () => {
    expect(() => selectTarget({ aws: true, local: true }, {}, CWD)).toThrow('--aws cannot be combined');
    expect(() => selectTarget({ aws: true, data: 'd' }, {}, CWD)).toThrow('--aws cannot be combined');
  });
});
