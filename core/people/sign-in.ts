/** Signs people in at an OIDC issuer from a browser: authorization code with PKCE, state and nonce. */

/** What must come back with the answer of the issuer. Only the browser that began it may keep it. */
interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

export interface SignIn {
  /** Where to send the browser. `again`: also one that the issuer knows already. `note`: comes back after the dot of the state. */
  begin(request: {
    redirectUri: string;
    again: boolean;
    note: string;
  }): Promise<{ url: string; begun: Begun }>;
  /** The access token. Throws `ProofInvalid` when the answer is not of what was begun, or the person said no. */
  finish(answer: URL, begun: Begun): Promise<string>;
}
