import type { z } from 'zod';
import type { Role } from '#identity/role.js';
import type { ErrorCode } from '#platform/errors.js';
import type { Load } from './heavy-work.js';

/** Who may call: anyone, or people with one of the roles. An administrator does not have the finance role automatically. */
export type Access = 'public' | readonly Role[];

/**
 * What a route does while the session views another account: `theirs` answers for that account, `own` for the session itself as
 * always, and the rest is refused.
 */
export type UnderView = 'theirs' | 'own' | 'refused';

/**
 * Which database a route reads. Files of rows and reports over many rows read `reports`: the replica, where there is one.
 * Everything else reads `primary`: what decides anything (holds, balances, approvals, limits, sessions, the close of a
 * period), and pages on which people see what they have just done.
 */
export type Reads = 'primary' | 'reports';

export type Fields = z.ZodObject;

/**
 * One address of the control plane, declared once: the server, its checks, the OpenAPI document and the generated client
 * all follow from it. Objects of the request are strict, so that a misspelt field is refused and not ignored.
 */
export interface Route<
  P extends Fields = Fields,
  Q extends Fields = Fields,
  B extends z.ZodType | null = z.ZodType | null,
  A extends z.ZodType | null = z.ZodType | null,
> {
  /** Unique; what generated clients call it. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/api/tickets/{ticketId}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly params: P;
  readonly query: Q;
  /** The JSON body; null: none is read. */
  readonly body: B;
  /** The media type of a body that is not JSON; `body` is then a string. */
  readonly consumes?: string;
  /** The body is neither read nor checked: the handler gets it as a stream of any media type, of at most this many bytes. */
  readonly streamsBody?: number;
  /** The handler needs the bytes of the body as they came too: `request.sentBytes`. */
  readonly keepsBytes?: boolean;
  /** The answer of success as JSON; null: nothing, or `produces`. */
  readonly answer: A;
  /** The media types of an answer that is not JSON; the handler answers text or a stream. */
  readonly produces?: readonly string[];
  readonly status: number;
  /** Refusals of this route, besides those that every route has. */
  readonly refusals: readonly ErrorCode[];
  /** False for what a machine calls and proves otherwise, such as a payment provider. */
  readonly guardsAgainstForgery: boolean;
  readonly underView: UnderView;
  /** It has its own rate limit: someone who reaches it can still do everything else. */
  readonly countedApart: boolean;
  /** Anything but light work takes turns by account, so that nobody uses all of the database's time. */
  readonly load: Load;
  /** Where its handler finds what it reads, as `database` of the call. */
  readonly reads: Reads;
  /** Only for a session with a recent proof of identity, by a code or the password. */
  readonly confirms: boolean;
  /** Staff who have yet to set up their second factor reach it too. */
  readonly beforeSecondFactor: boolean;
}

/** The key of a handler's route among its metadata. */
export const ROUTE = Symbol('tollgate.route');
