import type { ModelLimits } from '#catalog/catalog.js';
import type { Family, Unit } from '#pricing/price-book.js';
import type { PriceText } from '#pricing/price-text.js';
import type { ChannelProtocol } from '#upstream/adapters.js';

/** Where a fact about a model was read, and when. */
interface ListSource {
  /** The vendor's own page. */
  readonly url: string;
  /** The day on which it was read, or the month if that is all that is known. */
  readonly read: string;
  /** Who read it there, if the source is second-hand. */
  readonly via?: string;
}

/** A model as its vendor sells it. The id is the vendor's own. */
export interface VendorModel {
  readonly id: string;
  readonly vendor: string;
  readonly family: Family;
  readonly unit: Unit;
  /** The protocol of a channel to the vendor. */
  readonly protocol: ChannelProtocol;
  readonly limits: ModelLimits;
  /** The vendor's price in USD, in the form of this product's own prices; null if none was found. */
  readonly listPrice: PriceText | null;
  readonly source: ListSource;
  /** What the list price leaves out. */
  readonly note?: string;
}
