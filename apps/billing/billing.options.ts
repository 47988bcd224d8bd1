import type { ProgramParts } from '#operations/program-parts.js';
import type { BillingConfig } from './billing.config.js';

export type BillingModuleOptions = ProgramParts<BillingConfig>;
