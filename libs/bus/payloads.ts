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

/** The gateway asks for a hold; the charge id is minted and saved by the caller before it asks. */
export class ChargeRequested {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsWord() keyId!: string;
  /** The model as catalogued: an alias has its own id, and is priced as its model. `requestedModel` is the same id. */
  @IsWord() model!: string;
  @IsWord() requestedModel!: string;
  @IsWord() group!: string;
  /** Images, seconds or calls, as a decimal. */
  @IsDecimalText() units!: string;
  /** USD. Another amount than billing's own is answered with `stale_quote`. */
  @IsDecimalText() quotedAmount!: string;
  /** The version of the price that it comes from. Another is answered so too, though it costs the same: its rates may differ. */
  @IsOptional() @IsWord() quotedVersion?: string | null;
  /** Handled later than this, the request is refused as expired. */
  @IsInstant() expiresAt!: string;
  /** When a synchronous charge is released if nothing resolved it; null for tasks, which end their charge themselves. */
  @IsOptional() @IsInstant() deadline?: string | null;
  @IsOptional() @IsWord() taskId?: string | null;
  @IsWord() requestId!: string;
  /** The most that metered work may use. */
  @IsOptional() @IsTokens() tokens?: Tokens | null;
  /** What the request asks for that rates of a price may name; without it, nothing is held at a price that has rates. */
  @IsOptional() @AreWords() dimensions?: Record<string, string> | null;
  /** Where the request came from, for keys that are good from some addresses only. */
  @IsOptional() @IsWord() clientIp?: string | null;
}

export class ChargeReply {
  @IsIn(['held', 'refused']) outcome!: 'held' | 'refused';
  @IsWord() chargeId!: string;
  /** USD held. */
  @IsOptional() @IsDecimalText() amount?: string;
  /** USD left on the main balance after the hold. */
  @IsOptional() @IsDecimalText() balance?: string;
  @IsOptional() @IsReason() refusal?: ChargeRefusal;
}

/** Synchronous work has ended, or a task could not be created. */
export class ChargeResolved {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsIn(['delivered', 'failed']) outcome!: 'delivered' | 'failed';
  /** Of the units held; what was not delivered is released. */
  @IsOptional() @IsDecimalText() deliveredUnits?: string;
  /** What metered work used. */
  @IsOptional() @IsTokens() deliveredTokens?: Tokens | null;
  @IsOptional() @IsWord() channel?: string | null;
  @IsOptional() @IsReason() reason?: Reason | null;
  @IsOptional() @IsCount() upstreamStatus?: number | null;
  @IsOptional() @IsCount() latencyMs?: number | null;
  @IsOptional() @IsWord() requestId?: string;
}

export class ResolvedReply {
  @IsIn(['settled', 'released', 'refused']) outcome!: 'settled' | 'released' | 'refused';
  /** USD. */
  @IsDecimalText() settled!: string;
  /** USD. */
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
  /** Of the create that was refused. */
  @IsOptional() @IsCount() upstreamStatus?: number | null;
  /** From when it was asked for to its end. */
  @IsOptional() @IsCount() latencyMs?: number | null;
  @IsInstant() endedAt!: string;
}

export class ChargeSettled {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsWord() keyId!: string;
  @IsWord() model!: string;
  @IsWord() group!: string;
  /** USD. */
  @IsDecimalText() amount!: string;
  @IsDecimalText() units!: string;
  @IsOptional() @IsWord() taskId?: string | null;
  @IsInstant() settledAt!: string;
}

/** Money went back: `release` all of a hold, `partial` the undelivered part of it, `refund` after the settlement. */
export class ChargeRefunded {
  @IsWord() chargeId!: string;
  @IsWord() accountId!: string;
  @IsIn(['release', 'partial', 'refund']) kind!: 'release' | 'partial' | 'refund';
  /** USD. */
  @IsDecimalText() amount!: string;
  @IsOptional() @IsReason() reason?: Reason | null;
  @IsOptional() @IsWord() taskId?: string | null;
  /** Of kind `refund`: a charge may have several. */
  @IsOptional() @IsWord() refundId?: string | null;
  @IsInstant() refundedAt!: string;
}

/** A payment became balance. */
export class TopupCredited {
  @IsWord() topupId!: string;
  @IsWord() accountId!: string;
  @IsWord() provider!: string;
  /** USD. */
  @IsDecimalText() credits!: string;
  /** USD on the main balance afterwards. */
  @IsDecimalText() balance!: string;
  @IsInstant() creditedAt!: string;
}

/** The main balance fell below its owner's alert threshold; once for each crossing. */
export class BalanceLow {
  @IsWord() alertId!: string;
  @IsWord() accountId!: string;
  /** USD, negative for a balance below zero. */
  @IsDecimalText() balance!: string;
  /** USD. */
  @IsDecimalText() threshold!: string;
  @IsInstant() crossedAt!: string;
}

/** A control of the books named something new, or could not look. Of the house, not of an account. */
export class ControlFailed {
  @IsWord() runId!: string;
  /** Which control, such as `holds`. */
  @IsWord() control!: string;
  @IsIn(['red', 'error']) state!: 'red' | 'error';
  /** All that it counts now; null when it could not look. */
  @IsOptional() @IsCount() count?: number | null;
  /** How many of them are new, and the first of those. */
  @IsCount() fresh!: number;
  @IsWord({ each: true }) subjects!: string[];
  @IsInstant() at!: string;
}

/** Carries no state: programs that hear it load again. */
export class CatalogChanged {
  @IsWord() revision!: string;
  @IsWord() what!: string;
}

/** Carries no state: programs that hear it forget the key, found by id or by hash. */
export class KeyChanged {
  @IsWord() keyId!: string;
  @IsWord() accountId!: string;
  @IsOptional() @Matches(/^[0-9a-f]{64}$/) keyHash?: string;
}

/** Transactions of the ledger were sealed: anyone who keeps the hash can check later whether any of them was changed. */
export class LedgerSealed {
  /** Of the block, counted from 1. */
  @IsWord() number!: string;
  @Matches(/^[0-9a-f]{64}$/) hash!: string;
  /** The ledger transaction that it goes up to. */
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
  /** Names the public key. */
  @Matches(/^[0-9a-f]{16}$/) keyId!: string;
  /** Ed25519, base64. */
  @Matches(/^[A-Za-z0-9+/]{86}==$/) signature!: string;
}
