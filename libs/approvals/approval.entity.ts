import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { bigintTransformer } from '#database/database.js';

export type ApprovalState = 'pending' | 'approved' | 'rejected';

/** A request of one person that another one decides. */
@Entity('approvals')
export class Approval {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: string;
  /** `kind:{id}` of the subject. */
  @Column('text') subject!: string;
  @Column('text', { name: 'account_id', nullable: true }) accountId!: string | null;
  @Column('jsonb') payload!: unknown;
  /** Nanos of credit, shown to those who decide. */
  @Column('bigint', { nullable: true, transformer: bigintTransformer }) amount!: bigint | null;
  @Column('text') reason!: string;
  @Column('text') state!: ApprovalState;
  /** A user id. */
  @Column('text', { name: 'requested_by' }) requestedBy!: string;
  @Column('text', { name: 'request_id' }) requestId!: string;
  @Column('text', { name: 'decided_by', nullable: true }) decidedBy!: string | null;
  /** One person requested and approved it, because the installation declares that there is no second one. */
  @Column({ type: 'boolean', insert: false, update: false }) self!: boolean;
  @Column('text', { name: 'decision_note', nullable: true }) decisionNote!: string | null;
  /** The result of applying it. */
  @Column('jsonb', { nullable: true }) outcome!: unknown;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @Column('timestamptz', { name: 'decided_at', nullable: true }) decidedAt!: Date | null;
}
