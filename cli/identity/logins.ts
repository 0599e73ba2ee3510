/** Remembers who is signed in: one token for each issuer, in a file that only its owner can read. */
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { dataDirFor } from '../../client/target.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { makeDataDirectory } from '../../local/data-dir.ts';
import { readJson, writePrivately } from '../../local/private-file.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Issuer } from './issuer.ts';

const loginSchema = z.object({ token: z.string(), name: z.string(), expiresAt: z.string() });
export type Login = z.infer<typeof loginSchema>;
const fileSchema = z.record(z.string(), loginSchema);

/** Each embedded cloud has a key of its own, so a token is valid for only one of them. */
const keyOf = ({ issuer, clientId, secret = '' }: Issuer): string =>
  secret === '' ? `${issuer} ${clientId}` : `${issuer} ${sha256Hex(secret).slice(0, 16)}`;

export interface Logins {
  /** Undefined when nobody is signed in, or the token has expired. */
  find(issuer: Issuer): Promise<Login | undefined>;
  save(issuer: Issuer, token: string): Promise<Login>;
  /** Answers whether somebody was signed in. */
  remove(issuer: Issuer): Promise<boolean>;
}

export const openLogins = (terminal: Terminal, data: string | undefined): Logins => {
  const path = join(dataDirFor(data, terminal.env, terminal.cwd), 'logins.json');
  const read = async () => (await readJson(path, fileSchema)) ?? {};
  const write = async (logins: Record<string, Login>) => {
    await makeDataDirectory(dirname(path));
    await writePrivately(path, logins);
  };
  return {
    find: async (issuer) => {
      const login = (await read())[keyOf(issuer)];
      return login !== undefined && Date.parse(login.expiresAt) > terminal.now().getTime()
        ? login
        : undefined;
    },
    save: async (issuer, token) => {
      const { decodeJwt } = await import('jose');
      const { exp = 0, email, sub = 'somebody' } = decodeJwt<{ email?: string }>(token);
      const login = { token, name: email ?? sub, expiresAt: new Date(exp * 1000).toISOString() };
      await write({ ...(await read()), [keyOf(issuer)]: login });
      return login;
    },
    remove: async (issuer) => {
      const { [keyOf(issuer)]: found, ...others } = await read();
      if (found === undefined) return false;
      await write(others);
      return true;
    },
  };
};
