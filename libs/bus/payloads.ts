import { IsIn, IsOptional, Matches } from 'class-validator';
import { AreWords, IsCount, IsDecimalText, IsInstant, IsReason, IsTokens, IsWord } from './payload.rules.js';
import type { Tokens } from './tokens.js';

export type RefusalCode =
  | 'insufficient_user_quota'
  | 'key_revoked'
  | 'key_expired'
  | 'key_limit_exceeded'
  | 'account_limit_exceeded'
  | 'ip_not_allowed'
  | 'group_not_granted'
  | 'model_not_allowed'
  | 'model_not_found'
  | 'account_frozen'
  | 'stale_quote'
  | 'expired'
  | 'abandoned'
  | 'conflict';

export interface Reason {
  code: string;
  message: string;
}

export interface ChargeRefusal {
  code: RefusalCode;
  message: string;
}

/** The gateway requests a hold. It creates and saves the charge ID first. */
export class ChargeRequested {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsWord() keyId!: string;
  /** The model in the catalog. An alias has its own id and the price of its model. `requestedModel` is the same id. */
  @IsWord() model!: string;
  @IsWord() requestedModel!: string;
  @IsWord() group!: string;
  /** Images, seconds or calls, as a decimal. */
  @IsDecimalText() units!: string;
  /** Credits. If billing calculates a different amount, the answer is `stale_quote`. */
  @IsDecimalText() quotedAmount!: string;
  /**
   * The price version of the amount. A different one is also answered with `stale_quote`, even at the same price, because its
   * rates can differ.
   */
  @IsOptional() @IsWord() quotedVersion?: string | null;
  /** If handled later than this, the request is refused as expired. */
  @IsInstant() expiresAt!: string;
  /** When a synchronous charge is released if nothing has resolved it. Null for tasks, which end their charge themselves. */
  @IsOptional() @IsInstant() deadline?: string | null;
  @IsOptional() @IsWord() taskId?: string | null;
  @IsWord() requestId!: string;
  /** The most tokens that metered work can use. */
  @IsOptional() @IsTokens() tokens?: Tokens | null;
  /** The requested values that rates of a price can depend on. Required for a price with rates. */
  @IsOptional() @AreWords() dimensions?: Record<string, string> | null;
  /** The IP address of the request, for keys that are restricted to some addresses. */
  @IsOptional() @IsWord() clientIp?: string | null;
}

export class ChargeReply {
  @IsIn(['held', 'refused']) outcome!: 'held' | 'refused';
  @IsWord() chargeId!: string;
  /** Credits held. */
  @IsOptional() @IsDecimalText() amount?: string;
  /** Credits left on the main balance after the hold. */
  @IsOptional() @IsDecimalText() balance?: string;
  @IsOptional() @IsReason() refusal?: ChargeRefusal;
  /** With `stale_quote`: the time of the database's clock whose price is required. */
  @IsOptional() @IsInstant() pricedAt?: string;
}

/** Synchronous work has ended, or a task could not be created. */
export class ChargeResolved {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsIn(['delivered', 'failed']) outcome!: 'delivered' | 'failed';
  /** Delivered units of the hold. The rest is released. */
  @IsOptional() @IsDecimalText() deliveredUnits?: string;
  /** The usage of metered work. */
  @IsOptional() @IsTokens() deliveredTokens?: Tokens | null;
  @IsOptional() @IsWord() channel?: string | null;
  @IsOptional() @IsReason() reason?: Reason | null;
  @IsOptional() @IsCount() upstreamStatus?: number | null;
  @IsOptional() @IsCount() latencyMs?: number | null;
  @IsOptional() @IsWord() requestId?: string;
}

export class ResolvedReply {
  @IsIn(['settled', 'released', 'refused']) outcome!: 'settled' | 'released' | 'refused';
  /** Credits. */
  @IsDecimalText() settled!: string;
  /** Credits. */
  @IsDecimalText() released!: string;
}

/** A task ended, completed or failed; 3D tasks too. */
export class TaskEnded {
  @IsWord() taskId!: string;
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsIn(['video', '3d']) kind!: 'video' | '3d';
  @IsIn(['completed', 'failed']) outcome!: 'completed' | 'failed';
  @IsOptional() @IsDecimalText() deliveredUnits?: string;
  @IsOptional() @IsWord() channel?: string | null;
  @IsOptional() @IsReason() reason?: Reason | null;
  /** The HTTP status of the refused create. */
  @IsOptional() @IsCount() upstreamStatus?: number | null;
  /** The time from the request to its end. */
  @IsOptional() @IsCount() latencyMs?: number | null;
  @IsInstant() endedAt!: string;
}

export class ChargeSettled {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsWord() keyId!: string;
  @IsWord() model!: string;
  @IsWord() group!: string;
  /** Credits. */
  @IsDecimalText() amount!: string;
  @IsDecimalText() units!: string;
  @IsOptional() @IsWord() taskId?: string | null;
  @IsInstant() settledAt!: string;
}

/** A release or refund: `release` of a whole hold, `partial` for its undelivered part, `refund` after settlement. */
export class ChargeRefunded {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsIn(['release', 'partial', 'refund']) kind!: 'release' | 'partial' | 'refund';
  /** Credits. */
  @IsDecimalText() amount!: string;
  @IsOptional() @IsReason() reason?: Reason | null;
  @IsOptional() @IsWord() taskId?: string | null;
  /** For `refund`: a charge can have several. */
  @IsOptional() @IsWord() refundId?: string | null;
  @IsInstant() refundedAt!: string;
}

/** A payment was credited. */
export class TopupCredited {
  @IsWord() topupId!: string;
  @IsWord() accountId!: string;
  @IsWord() provider!: string;
  /** Credits. */
  @IsDecimalText() credits!: string;
  /** Credits on the main balance afterwards. */
  @IsDecimalText() balance!: string;
  @IsInstant() creditedAt!: string;
}

/** The main balance fell below its owner's alert threshold. Once per crossing. */
export class BalanceLow {
  @IsWord() alertId!: string;
  @IsWord() accountId!: string;
  /** Credits, negative for a balance below zero. */
  @IsDecimalText() balance!: string;
  /** Credits. */
  @IsDecimalText() threshold!: string;
  @IsInstant() crossedAt!: string;
}

/** A control of the books has new findings, or could not run. About the installation, not an account. */
export class ControlFailed {
  @IsWord() runId!: string;
  /** Which control, such as `holds`. */
  @IsWord() control!: string;
  @IsIn(['red', 'error']) state!: 'red' | 'error';
  /** The current number of findings. Null if the control could not run. */
  @IsOptional() @IsCount() count?: number | null;
  /** The number of new findings, and the first of them. */
  @IsCount() fresh!: number;
  @IsWord({ each: true }) subjects!: string[];
  @IsInstant() at!: string;
}

/** Carries no state: programs that receive it reload. */
export class CatalogChanged {
  @IsWord() revision!: string;
  @IsWord() what!: string;
}

/** Carries no state: programs that receive it drop the key, found by ID or hash. */
export class KeyChanged {
  @IsWord() keyId!: string;
  @IsWord() accountId!: string;
  @IsOptional() @Matches(/^[0-9a-f]{64}$/) keyHash?: string;
}

/** Transactions of the ledger were sealed: anyone who keeps the hash can check later whether any of them was changed. */
export class LedgerSealed {
  /** The number of the block, starting at 1. */
  @IsWord() number!: string;
  @Matches(/^[0-9a-f]{64}$/) hash!: string;
  /** The last ledger transaction of the block. */
  @IsWord() lastId!: string;
  @IsCount() transactionCount!: number;
  @IsInstant() sealedAt!: string;
}

/** The newest block of the ledger's hash chain with a signature, for keeping elsewhere. */
export class LedgerHead {
  @IsWord() number!: string;
  @Matches(/^[0-9a-f]{64}$/) hash!: string;
  @IsWord() lastId!: string;
  @IsInstant() sealedAt!: string;
  /** Identifies the public key. */
  @Matches(/^[0-9a-f]{16}$/) keyId!: string;
  /** Ed25519, base64. */
  @Matches(/^[A-Za-z0-9+/]{86}==$/) signature!: string;
}
