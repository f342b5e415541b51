// What owners store for their code: accounts at other services, and data stores. Times in epoch milliseconds.

/** Credentials for one app on a user's behalf. Code gets the fields as they are when the run begins (`$auth`). */
export interface Account {
  readonly id: string;
  readonly ownerId: string;
  /** The app's name as components spell it, e.g. `slack`. */
  readonly app: string;
  readonly name: string;
  /** JSON values, all secret. Becomes `$auth`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How its access token is renewed; null: it is not. */
  readonly oauth: AccountOauth | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface AccountInput {
  readonly app?: string;
  readonly name?: string;
  /** Fields to set; null deletes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Members to set; null: the token is not renewed any more. */
  readonly oauth?: OauthInput | null;
}

export type OauthInput = Readonly<
  Partial<Pick<AccountOauth, 'tokenUrl' | 'clientId' | 'clientSecret' | 'refreshToken' | 'scope' | 'clientAuth'>>
>;

export type ClientAuth = 'body' | 'basic';

/** All of it is kept sealed. Times in epoch milliseconds. */
export interface AccountOauth {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Null: the client's own credentials are enough (`client_credentials`). */
  readonly refreshToken: string | null;
  readonly scope: string | null;
  /** How the client names itself to the token server. */
  readonly clientAuth: ClientAuth;
  /** Null: not known, since there was no renewal yet. */
  readonly expiresAtMs: number | null;
  /** From when on a run that needs the token has it renewed before. Null: from now on. */
  readonly renewAtMs: number | null;
  /** Why the last renewal failed; null: it did not. */
  readonly failure: RenewalFailure | null;
  /** Until then a process is renewing it, and no other one does. */
  readonly claimedUntilMs: number | null;
}

export interface RenewalFailure {
  readonly message: string;
  readonly atMs: number;
}

export interface DataStore {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  /** Records that have not expired. */
  readonly size: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface DataStoreChange {
  readonly name: string;
  /** Given the name before the change, in its transaction; what it throws is passed on with nothing written. */
  readonly check: (before: string) => void;
}

export interface DataRecord {
  readonly key: string;
  /** JSON text. */
  readonly value: string;
  readonly updatedAtMs: number;
  /** Null: the record never expires. */
  readonly expiresAtMs: number | null;
}
