import { Controller } from '@nestjs/common';
import { ModelService } from '#marketplace/catalog/model.service.js';
import { ProposalService } from '#marketplace/prices/proposal.service.js';
import { diffVendors, importVendors } from '#marketplace/vendors/vendor.import.js';
import { vendorImportView, vendorModelView } from '#marketplace/vendors/vendor.view.js';
import { vendorModels } from '#marketplace/vendors/vendor-models.js';
import { Using } from '#platform/wiring.js';
import { doneBy } from '../catalog/catalog.calls.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { vendorsRoutes as routes } from './vendors.routes.js';

/** The catalog of vendors' models beside what is asked here. */
@Controller()
export class VendorsController extends Using({ pool: POOL, service: ProposalService, models: ModelService }) {
  @Serves(routes.list)
  async list() {
    const compared = await diffVendors(this.pool, vendorModels);
    return { items: compared.map(vendorModelView) };
  }

  @Serves(routes.propose)
  async propose(call: CallOf<typeof routes.propose>) {
    const { pool, service, models } = this;
    const parts = { pool, service, models, catalog: vendorModels };
    return vendorImportView(await importVendors(parts, call.body, doneBy(call)));
  }
}
