/** Signs people in at an OIDC issuer from a browser: authorization code with PKCE, state and nonce. */

/** What the answer of the issuer must match. Only the browser that began the sign-in may keep it. */
interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

export interface SignIn {
  /**
   * Where to send the browser. `again`: the issuer asks also a person whom it knows already. `note`: comes
   * back after the dot of the state.
   */
  begin(request: {
    redirectUri: string;
    again: boolean;
    note: string;
  }): Promise<{ url: string; begun: Begun }>;
  /**
   * The access token. Throws `ProofInvalid` when the answer does not belong to `begun`, or when the person
   * declined.
   */
  finish(answer: URL, begun: Begun): Promise<string>;
}
