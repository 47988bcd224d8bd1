import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { bigintTransformer } from '#database/database.js';
import type { Role } from './role.js';

@Entity('users')
export class User {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'account_id' }) accountId!: string;
  /** Lower case. */
  @Column('text') email!: string;
  /** argon2id, with its parameters. */
  @Column('text', { name: 'password_hash' }) passwordHash!: string;
  @Column('text', { array: true }) roles!: Role[];
  /** In Base32, sealed. Required once it is confirmed. */
  @Column('text', { name: 'totp_secret', nullable: true }) totpSecret!: string | null;
  @Column('timestamptz', { name: 'totp_confirmed_at', nullable: true }) totpConfirmedAt!: Date | null;
  /** The time step of the last accepted code, because each code works once. */
  @Column('bigint', { name: 'totp_last_step', nullable: true, transformer: bigintTransformer })
  totpLastStep!: bigint | null;
  @Column('timestamptz', { name: 'disabled_at', nullable: true }) disabledAt!: Date | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
