import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { bigintTransformer } from '#database/database.js';

/** An API key of an account, without the key: only its hash is stored. */
@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'account_id' }) accountId!: string;
  @Column('text') name!: string;
  /** The first characters of the key; null for keys older than this column. */
  @Column('text', { name: 'key_prefix', nullable: true }) prefix!: string | null;
  @Column('bytea', { name: 'key_hash', select: false }) keyHash!: Buffer;
  @Column('text', { name: 'group_name' }) group!: string;
  /** Null: every model of the group. */
  @Column('text', { name: 'allowed_models', array: true, nullable: true }) allowedModels!: string[] | null;
  /** Tried in this order if the requested model cannot serve; null: none. */
  @Column('text', { name: 'fallback_models', array: true, nullable: true }) fallbackModels!: string[] | null;
  /** Addresses and CIDR ranges; null: any. */
  @Column('text', { name: 'allowed_ips', array: true, nullable: true }) allowedIps!: string[] | null;
  /** Nanos that may be held per UTC month; null: no limit. */
  @Column('bigint', { name: 'monthly_limit_nanos', nullable: true, transformer: bigintTransformer })
  monthlyLimit!: bigint | null;
  /** Nanos that may be held in total. */
  @Column('bigint', { name: 'total_limit_nanos', nullable: true, transformer: bigintTransformer })
  totalLimit!: bigint | null;
  @Column('int', { name: 'requests_per_minute', nullable: true }) requestsPerMinute!: number | null;
  @Column('int', { name: 'tokens_per_minute', nullable: true }) tokensPerMinute!: number | null;
  @Column('int', { name: 'images_per_minute', nullable: true }) imagesPerMinute!: number | null;
  @Column('int', { name: 'max_running_tasks', nullable: true }) maxRunningTasks!: number | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  /** Deleted: it stays for the usage log, and every call is refused. */
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
