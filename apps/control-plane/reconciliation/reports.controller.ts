import { Controller } from '@nestjs/common';
import { BankService } from '#finance/provider-reports/bank/bank.service.js';
import { ProviderReports } from '#finance/provider-reports/provider-reports.js';
import { viewImport } from '#finance/provider-reports/reconciliation.view.js';
import { ReportService, type ReportRun } from '#finance/provider-reports/report.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { reconciliationRoutes as routes } from './reconciliation.routes.js';
import { askingOnce } from '../payments/finance.calls.js';

/** Reports of providers and banks: their import, their lines, and what people decided about them. */
@Controller()
export class ReportsController extends Using({
  service: ReportService,
  bank: BankService,
  providerReports: ProviderReports,
}) {
  @Serves(routes.reports)
  async reports({ query }: CallOf<typeof routes.reports>) {
    const { items, nextCursor } = await this.service.list(query);
    return { items: items.map(viewRun), nextCursor };
  }

  @Serves(routes.coverage)
  async coverage() {
    return { items: await this.service.coverage() };
  }

  @Serves(routes.importStripe)
  async importStripe(call: CallOf<typeof routes.importStripe>) {
    return viewImport(await this.service.importStripe(uploadOf(call), askingOnce(call)));
  }

  @Serves(routes.fetch)
  fetch(): void {
    this.providerReports.wake();
  }

  @Serves(routes.bankAccounts)
  async bankAccounts() {
    return { items: await this.bank.list() };
  }

  @Serves(routes.saveBankAccount)
  async saveBankAccount(call: CallOf<typeof routes.saveBankAccount>): Promise<void> {
    const account = { id: call.params.bankAccountId, mapping: call.body.mapping };
    await this.bank.save(account, askingOnce(call));
  }

  @Serves(routes.importBank)
  async importBank(call: CallOf<typeof routes.importBank>) {
    const { bankAccountId } = call.params;
    return viewImport(await this.service.importBank(bankAccountId, uploadOf(call), askingOnce(call)));
  }

  @Serves(routes.matchBankLine)
  async matchBankLine(call: CallOf<typeof routes.matchBankLine>): Promise<void> {
    const { kind, subject = null, note } = call.body;
    const bankLineId = BigInt(call.params.bankLineId);
    await this.bank.match({ bankLineId, kind, subject, note }, askingOnce(call));
  }

  @Serves(routes.undoBankMatch)
  async undoBankMatch(call: CallOf<typeof routes.undoBankMatch>): Promise<void> {
    await this.bank.undo(BigInt(call.params.bankLineId), call.body.note, askingOnce(call));
  }
}

function uploadOf({ query, body: text }: Pick<CallOf<typeof routes.importStripe>, 'query' | 'body'>): {
  text: string;
  from: string | undefined;
  to: string | undefined;
  dryRun: boolean;
} {
  return { text, from: query.from, to: query.to, dryRun: query.dryRun };
}

function viewRun({ coversFrom: from, coversTo: to, ...run }: ReportRun) {
  return { ...run, covers: to === null ? null : { from, to } };
}
