import { anthropicModels } from './listed/anthropic.js';
import { blackForestLabsModels } from './listed/black-forest-labs.js';
import { falModels } from './listed/fal.js';
import { googleModels } from './listed/google.js';
import { meshyModels } from './listed/meshy.js';
import { openAiModels } from './listed/openai.js';
import { replicateModels } from './listed/replicate.js';
import { volcengineModels } from './listed/volcengine.js';
import { xaiModels } from './listed/xai.js';
import type { VendorModel } from './vendor-model.js';

/**
 * Vendors' models with their list prices. A price needs a source. One that depends on something our prices cannot
 * express (megapixels, sound) is left out. The README says how to add one.
 */
export const vendorModels: readonly VendorModel[] = [
  ...openAiModels,
  ...googleModels,
  ...xaiModels,
  ...blackForestLabsModels,
  ...falModels,
  ...replicateModels,
  ...volcengineModels,
  ...meshyModels,
  ...anthropicModels,
];
