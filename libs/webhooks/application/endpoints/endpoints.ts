import type { Page } from '#kernel/page.js';
import type { AbandonReason } from '../endpoint-deliveries.js';
import type { Endpoint } from '../../domain/endpoint.js';
import type { SealedSecret } from './secret-box.js';

/** A secret by which requests to an endpoint are signed. */
export interface StoredSecret {
  readonly sealed: SealedSecret;
  /** When it ends, because another one has replaced it; null for the current one. */
  readonly expiresAt: Date | null;
}

/** What is stored of an endpoint and never shown. */
export interface Sealed {
  /** The current one first. Expired ones may be among them. */
  readonly secrets: readonly StoredSecret[];
  /** Null without headers. */
  readonly headers: SealedSecret | null;
}

/** What is needed to send to an endpoint. */
export interface Target extends Sealed {
  readonly endpoint: Endpoint;
  /** Changes with each change of the endpoint. */
  readonly version: string;
}

/** An endpoint for which deliveries may wait in vain. */
export interface EndedEndpoint {
  readonly id: string;
  readonly reason: AbandonReason;
  /** Changes with each of these changes of the endpoint. */
  readonly version: string;
  /** No statement runs any more that began before the change, and may store deliveries as if it had not happened. */
  readonly isSettled: boolean;
}

/** The store of endpoints. */
export abstract class Endpoints {
  /**
   * Adds an endpoint, unless the account already has as many as its plan allows, or MAX_ENDPOINTS.
   * @throws DomainError `too_many_endpoints`
   * @throws ValidationError when the account has another one with this URL
   */
  abstract add(endpoint: Endpoint & Sealed): Promise<void>;

  abstract find(accountId: string, id: string): Promise<Endpoint | null>;

  /** Newest first. */
  abstract list(accountId: string, page: Page): Promise<Endpoint[]>;

  /**
   * Concurrent changes run one after the other, each on the latest state.
   * @param change returns the new state, with headers if they change; nothing changes when it throws
   * @returns the new state; null when the account has no such endpoint
   * @throws ValidationError when the account has another endpoint with the new URL
   */
  abstract update(
    accountId: string,
    id: string,
    change: (endpoint: Endpoint) => Endpoint & Partial<Pick<Sealed, 'headers'>>,
  ): Promise<Endpoint | null>;

  /**
   * The same for what is never shown of an endpoint.
   * @returns false when the account has no such endpoint
   */
  abstract updateSealed(accountId: string, id: string, change: (sealed: Sealed) => Sealed): Promise<boolean>;

  /** @returns false when the account has no such endpoint */
  abstract remove(accountId: string, id: string): Promise<boolean>;

  /** The ids of the keys under which secrets and headers are stored. */
  abstract keyIds(): Promise<string[]>;

  /** Endpoints with a secret or headers that are encrypted under another key. */
  abstract sealedUnderOtherKeys(keyId: string): Promise<Pick<Endpoint, 'id' | 'accountId'>[]>;

  /** Endpoints by id. Ids that do not exist are missing. */
  abstract targets(ids: readonly string[]): Promise<Target[]>;

  /**
   * Runs `work` with the endpoints that were disabled, enabled or deleted, or whose types have changed, and for which
   * deliveries may wait in vain, unless another process is doing so.
   */
  abstract withEnded(work: (ended: readonly EndedEndpoint[]) => Promise<void>): Promise<void>;

  /** Removes an endpoint from the result of `withEnded`, unless its version has changed. */
  abstract forgetEnded(ended: EndedEndpoint): Promise<void>;

  /**
   * Counts requests to endpoints with a limit: no second, whenever it begins, has more of them.
   * @param wanted how many requests to each are about to start
   */
  abstract takeRate(wanted: ReadonlyMap<string, number>): Promise<Map<string, RateGrant>>;
}

export interface RateGrant {
  /** How many requests may start now. */
  readonly count: number;
  /** When as many as possible may start at once, in milliseconds. */
  readonly emptyInMs: number;
}
