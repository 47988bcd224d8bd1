import type { components } from './schema.js';

/** A named shape of the API, such as `Shape<'Ticket'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];
