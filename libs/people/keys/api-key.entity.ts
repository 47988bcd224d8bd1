import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { bigintTransformer } from '#database/database.js';

/** An API key of an account, without the key: only its hash is stored. */
@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'account_id' }) accountId!: string;
  @Column('text') name!: string;
  /** What the key begins with; null for keys that are older than this column. */
  @Column('text', { name: 'key_prefix', nullable: true }) prefix!: string | null;
  @Column('bytea', { name: 'key_hash', select: false }) keyHash!: Buffer;
  @Column('text', { name: 'group_name' }) group!: string;
  /** Null: all of the group. */
  @Column('text', { name: 'allowed_models', array: true, nullable: true }) allowedModels!: string[] | null;
  /** Asked in this order when the model of a request cannot serve it; null: none. */
  @Column('text', { name: 'fallback_models', array: true, nullable: true }) fallbackModels!: string[] | null;
  /** Addresses and CIDR ranges; null: from everywhere. */
  @Column('text', { name: 'allowed_ips', array: true, nullable: true }) allowedIps!: string[] | null;
  /** Nanos that may be held in a UTC month; null: no limit. */
  @Column('bigint', { name: 'monthly_limit_nanos', nullable: true, transformer: bigintTransformer })
  monthlyLimit!: bigint | null;
  /** Nanos that may be held ever. */
  @Column('bigint', { name: 'total_limit_nanos', nullable: true, transformer: bigintTransformer })
  totalLimit!: bigint | null;
  @Column('int', { name: 'requests_per_minute', nullable: true }) requestsPerMinute!: number | null;
  @Column('int', { name: 'tokens_per_minute', nullable: true }) tokensPerMinute!: number | null;
  @Column('int', { name: 'images_per_minute', nullable: true }) imagesPerMinute!: number | null;
  @Column('int', { name: 'max_running_tasks', nullable: true }) maxRunningTasks!: number | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  /** Deleted: it is kept for the usage log, and no call passes. */
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
