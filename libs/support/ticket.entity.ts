import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

export const ticketKinds = ['question', 'billing', 'reseller_rate', 'refund'] as const;
export type TicketKind = (typeof ticketKinds)[number];

/** `open` waits for support, `answered` for the customer. */
export const ticketStates = ['open', 'answered', 'closed'] as const;
export type TicketState = (typeof ticketStates)[number];

export type TicketOutcome = 'rate_granted' | 'refunded';

@Entity('tickets')
export class Ticket {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'account_id' }) accountId!: string;
  /** A user id. */
  @Column('text', { name: 'opened_by' }) openedBy!: string;
  @Column('text') kind!: TicketKind;
  @Column('text') subject!: string;
  @Column('text') state!: TicketState;
  @Column('text', { name: 'charge_id', nullable: true }) chargeId!: string | null;
  @Column('text', { nullable: true }) outcome!: TicketOutcome | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @CreateDateColumn({ name: 'updated_at', type: 'timestamptz' }) updatedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) closedAt!: Date | null;
  /** A member of the support team. */
  @Column('text', { name: 'assignee_id', nullable: true }) assigneeId!: string | null;
  /** Since when the customer has been waiting, if it is open. The database maintains it. */
  @Column('timestamptz', { name: 'waiting_since', nullable: true }) waitingSince!: Date | null;
}

/** An entry of a ticket: a `message` of either side, a `note` for staff only, an `event` of the system. */
@Entity('ticket_messages')
export class TicketMessage {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'ticket_id' }) ticketId!: string;
  @Column('text') kind!: 'message' | 'note' | 'event';
  /** A user id; for an event, the person who caused it. */
  @Column('text', { name: 'author_id' }) authorId!: string;
  @Column('boolean', { name: 'from_staff' }) fromStaff!: boolean;
  @Column('text') body!: string;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
