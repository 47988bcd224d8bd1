import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { Routing } from '#catalog/channel-order.js';
import type { ModelLimits } from '#catalog/catalog.js';
import type { Family, Unit } from '#pricing/price-book.js';

/** A model that can be sold. Its family, its unit and its alias target never change, because charges refer to it. */
@Entity('models')
export class Model {
  @PrimaryColumn('text') id!: string;
  @Column('text') family!: Family;
  @Column('text') unit!: Unit;
  @Column('text', { name: 'owned_by' }) ownedBy!: string;
  @Column('text', { name: 'alias_of', nullable: true }) aliasOf!: string | null;
  @Column('boolean') enabled!: boolean;
  @Column('jsonb') limits!: ModelLimits;
  /** An alias is routed like its model. */
  @Column('text') routing!: Routing;
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
