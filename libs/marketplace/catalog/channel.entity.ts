import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { ChannelProtocol } from '#upstream/adapters.js';

/** One configured upstream. Its keys are never shown: `channel.service` shows their marks. */
@Entity('channels')
export class ChannelRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') protocol!: ChannelProtocol;
  @Column('text', { name: 'base_url' }) baseUrl!: string;
  @Column('text', { name: 'api_key' }) apiKey!: string;
  @Column('text', { name: 'further_api_keys', array: true }) furtherApiKeys!: string[];
  @Column('text', { name: 'webhook_secret', nullable: true }) webhookSecret!: string | null;
  @Column('boolean') enabled!: boolean;
  /** Higher is tried first. */
  @Column('integer') priority!: number;
  /** Its share among channels of the same priority. */
  @Column('integer') weight!: number;
  @Column('integer', { name: 'request_timeout_ms' }) requestTimeoutMs!: number;
  @Column('boolean', { name: 'allow_private_address' }) allowPrivateAddress!: boolean;
  @Column('boolean', { name: 'honours_idempotency' }) honoursIdempotency!: boolean;
  @Column('integer', { name: 'max_concurrency', nullable: true }) maxConcurrency!: number | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
