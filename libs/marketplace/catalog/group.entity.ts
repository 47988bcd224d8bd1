import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** A group of keys: its models, and limits of each account's keys in it together; null: the defaults. */
@Entity('groups')
export class Group {
  @PrimaryColumn('text') name!: string;
  /** Every account may create keys in it. Otherwise, only those that were granted access. */
  @Column('boolean') open!: boolean;
  @Column('integer', { name: 'requests_per_minute', nullable: true }) requestsPerMinute!: number | null;
  @Column('integer', { name: 'tokens_per_minute', nullable: true }) tokensPerMinute!: number | null;
  @Column('integer', { name: 'images_per_minute', nullable: true }) imagesPerMinute!: number | null;
  @Column('integer', { name: 'max_running_tasks', nullable: true }) maxRunningTasks!: number | null;
  @Column('integer', { name: 'max_concurrent_requests', nullable: true }) maxConcurrentRequests!:
    | number
    | null;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
