import { chargeMutants } from './charges.js';
import { deliveryMutants } from './delivery.js';
import { moneyInMutants } from './money-in.js';
import { repeatMutants } from './repeats.js';
import { revenueMutants } from './revenue.js';
import type { Mutant } from './mutant.js';

export const mutants: readonly Mutant[] = [
  ...chargeMutants,
  ...moneyInMutants,
  ...revenueMutants,
  ...deliveryMutants,
  ...repeatMutants,
];
