import type { Command } from 'commander';
import { CatalogChanges } from '#marketplace/catalog/catalog.changes.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { GroupModels } from '#marketplace/catalog/group-models.js';
import { ModelService } from '#marketplace/catalog/model.service.js';
import { chosenVendorModels, diffVendors, importVendors } from '#marketplace/vendors/vendor.import.js';
import { vendorImportView, vendorModelView } from '#marketplace/vendors/vendor.view.js';
import { vendorModels } from '#marketplace/vendors/vendor-models.js';
import { argument } from '../arguments.js';
import { command } from '../command.js';
import { onDatabase, withSource } from '../database.access.js';
import { printJson, printText } from '../output.js';
import { diffTable, importText } from './catalog.output.js';
import { byUnless, proposalsOf, proposing, type Timing } from './proposing.js';

const MODEL = ['--model <id>', 'only this model; may be repeated'] as const;
const VENDOR = ['--vendor <name>', 'only this vendor; may be repeated'] as const;

export function catalogCommand(): Command {
  const catalog = command('catalog', "vendors' models, with list prices and sources");
  command(
    'diff',
    'compare the catalog with this installation; exits 1 if a list price has changed since a price was derived from it',
    catalog,
  )
    .option(...MODEL, repeated, [])
    .option(...VENDOR, repeated, [])
    .action(diff);
  addImport(catalog);
  return catalog;
}

function addImport(catalog: Command): void {
  proposing(
    command(
      'import',
      'propose list prices plus a margin; nothing changes until the proposal is confirmed',
      catalog,
    )
      .requiredOption(
        '--margin <percent>',
        'percentage added to the list price, such as 20; prices are rounded up to six decimals',
        percentArgument,
      )
      .option(...MODEL, repeated, [])
      .option(...VENDOR, repeated, [])
      .option('--add-missing', 'add missing models, disabled and in no group'),
  )
    .addHelpText('after', EXAMPLES)
    .action(importModels);
}

const EXAMPLES = `
Examples:
  tollgate catalog import --margin 20 --vendor anthropic --dry-run
  tollgate catalog import --margin 12.5 --model flux-kontext-pro --add-missing`;

function repeated(text: string, before: string[]): string[] {
  return [...before, text];
}

const percentArgument = argument(/^\d{1,5}(\.\d{1,6})?$/, String, 'Give a percentage, such as 20 or 12.5.');

interface Chosen {
  model: string[];
  vendor: string[];
}

async function diff({ model, vendor, json }: Chosen & { json?: boolean }): Promise<void> {
  const chosen = chosenVendorModels(vendorModels, { models: model, vendors: vendor });
  const rows = await onDatabase((pool) => diffVendors(pool, chosen));
  if (rows.some(({ state }) => state === 'moved')) process.exitCode = 1;
  if (json) return printJson({ models: rows.map(vendorModelView) });
  printText(diffTable(rows));
}

async function importModels(
  options: Chosen & Timing & { margin: string; addMissing?: boolean },
): Promise<void> {
  const { margin, model, vendor, dryRun = false, addMissing = false, effectiveAt = null } = options;
  const { note = `List prices and ${margin} percent` } = options;
  const terms = { marginPercent: margin, effectiveAt, note };
  const wanted = { ...terms, models: model, vendors: vendor, dryRun, addMissing };
  const result = await onDatabase(async (pool, url) => {
    const author = await byUnless(dryRun, pool, options);
    return withSource(url, (source) => {
      // A running relay finds events in the outbox by itself.
      const changes = new CatalogChanges(source, { wake: () => undefined });
      const models = new ModelService(source, changes, new GroupModels(changes, new ApprovalService(source)));
      const parts = { pool, service: proposalsOf(pool), models, catalog: vendorModels };
      return importVendors(parts, wanted, author);
    });
  });
  if (result.refused.length > 0) process.exitCode = 1;
  if (options.json) return printJson(vendorImportView(result));
  printText(importText(result));
}
