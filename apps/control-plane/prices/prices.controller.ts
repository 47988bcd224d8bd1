import { Controller } from '@nestjs/common';
import { announceFile } from '#platform/http/attachment.js';
import { CSV_TYPE } from '#platform/http/csv.js';
import { pageFrom, readCursorId } from '#platform/http/page.js';
import { readPriceCsv, readPriceList } from '#marketplace/prices/price-file.js';
import { exportPrices, importPrices } from '#marketplace/prices/price.import.js';
import { previewChanges } from '#marketplace/prices/preview.js';
import {
  importView,
  previewView,
  previewWindow,
  proposalDetail,
  proposalSummary,
} from '#marketplace/prices/prices.view.js';
import type { Proposal } from '#marketplace/prices/proposal.js';
import { ProposalService } from '#marketplace/prices/proposal.service.js';
import { Using } from '#platform/wiring.js';
import { doneBy } from '../catalog/catalog.calls.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { pricesRoutes as routes } from './prices.routes.js';

/** Prices for those who make them: proposals, their preview, and files. */
@Controller()
export class PricesController extends Using({
  service: ProposalService,
  pool: POOL,
  clock: CONTROL_PLANE_CLOCK,
}) {
  @Serves(routes.propose)
  async propose(call: CallOf<typeof routes.propose>) {
    return this.detail(await this.service.propose(call.body, doneBy(call)), call.reply);
  }

  @Serves(routes.list)
  async list({ query }: CallOf<typeof routes.list>) {
    const { limit, state } = query;
    const beforeId = readCursorId(query.cursor);
    const rows = await this.service.list({ limit: limit + 1, beforeId, openOnly: state === 'open' });
    return pageFrom(rows.map(proposalSummary), limit, ({ id }) => [id]);
  }

  @Serves(routes.show)
  async show({ params, reply }: CallOf<typeof routes.show>) {
    return this.detail(await this.service.find(params.proposalId), reply);
  }

  @Serves(routes.revise)
  async revise(call: CallOf<typeof routes.revise>) {
    const { revision, ...wanted } = call.body;
    const { proposalId } = call.params;
    return this.detail(
      await this.service.revise({ id: proposalId, revision }, wanted, doneBy(call)),
      call.reply,
    );
  }

  @Serves(routes.confirm)
  async confirm(call: CallOf<typeof routes.confirm>) {
    const { proposalId } = call.params;
    return this.detail(await this.service.confirm(proposalId, call.body.revision, doneBy(call)), call.reply);
  }

  @Serves(routes.cancel)
  async cancel(call: CallOf<typeof routes.cancel>) {
    const { proposalId } = call.params;
    return this.detail(await this.service.cancel(proposalId, call.body.revision, doneBy(call)), call.reply);
  }

  @Serves(routes.preview)
  async preview({ params, query }: CallOf<typeof routes.preview>) {
    const { changes, effectiveAt } = await this.service.find(params.proposalId);
    const window = previewWindow(query, this.clock.nowMs());
    return previewView(
      await previewChanges(this.pool, {
        ...window,
        effectiveAt,
        changes: changes.map(({ change }) => change),
      }),
    );
  }

  @Serves(routes.exportJson)
  async exportJson() {
    const { exportedAt, changes } = await exportPrices(this.pool);
    return { exportedAt, rows: changes };
  }

  @Serves(routes.exportCsv)
  async exportCsv({ reply }: CallOf<typeof routes.exportCsv>) {
    announceFile(reply, 'prices.csv', CSV_TYPE);
    return (await exportPrices(this.pool)).csv();
  }

  @Serves(routes.importJson)
  async importJson(call: CallOf<typeof routes.importJson>) {
    const { rows, ...options } = call.body;
    const parts = { pool: this.pool, service: this.service };
    return importView(await importPrices(parts, { ...options, rows: readPriceList(rows) }, doneBy(call)));
  }

  @Serves(routes.importCsv)
  async importCsv(call: CallOf<typeof routes.importCsv>) {
    const { effectiveAt = null, note, dryRun } = call.query;
    const parts = { pool: this.pool, service: this.service };
    const options = { effectiveAt, note, dryRun };
    return importView(await importPrices(parts, { ...options, rows: readPriceCsv(call.body) }, doneBy(call)));
  }

  private async detail(
    proposal: Proposal,
    reply: CallOf<typeof routes.show>['reply'],
  ): Promise<AnswerOf<typeof routes.show>> {
    void reply.header('etag', `"${proposal.id}-${proposal.revision}-${proposal.state}"`);
    const outdated = await this.service.staleness(proposal);
    return proposalDetail(proposal, outdated, await this.service.needsSecondPerson(proposal));
  }
}
