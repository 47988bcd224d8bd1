import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { EventType } from './webhook-event.js';

/** The `owner` disabled it, it was `failing` for too long, or it answered 410: `gone`. */
export type DisabledReason = 'owner' | 'failing' | 'gone';

/** Where an account receives its events. */
@Entity('webhook_endpoints')
export class WebhookEndpoint {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'account_id' }) accountId!: string;
  @Column('text') url!: string;
  @Column('text') description!: string;
  @Column('text', { array: true }) events!: EventType[];
  /** Sealed. */
  @Column('text') secret!: string;
  /** Keeps signing until this time, so that receivers can switch. */
  @Column('text', { name: 'previous_secret', nullable: true }) previousSecret!: string | null;
  @Column('timestamptz', { name: 'previous_secret_until', nullable: true }) previousSecretUntil!: Date | null;
  @Column('timestamptz', { name: 'disabled_at', nullable: true }) disabledAt!: Date | null;
  @Column('text', { name: 'disabled_reason', nullable: true }) disabledReason!: DisabledReason | null;
  /** The first failure after the last success. */
  @Column('timestamptz', { name: 'failing_since', nullable: true }) failingSince!: Date | null;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
