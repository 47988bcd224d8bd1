import { Command } from 'commander';
import type { Approval } from '#approvals/approval.entity.js';
import { viewApproval } from '#approvals/approvals.view.js';
import type { Role } from '#identity/role.js';
import { formatAmount, nanos } from '#money/amount.js';
import { AS_OPTION, type Acting, actingPerson } from './acting.js';
import { type Services, withServices } from './services.js';
import { operatorName } from './operator-name.js';
import { facts, printJson, printText, table } from './output.js';
import { JSON_OPTION } from './arguments.js';

const STAFF: readonly Role[] = ['support', 'finance', 'admin'];
const SHOWN = 200;

interface Options extends Acting {
  json?: boolean;
}

/** Second signatures, as in the console. */
export function approvalsCommand(): Command {
  const approvals = new Command('approvals').description('requests that a second person has to decide');
  approvals
    .command('list')
    .description('pending requests that the acting person can decide, newest first')
    .option(...AS_OPTION)
    .option(...JSON_OPTION)
    .action(list);
  approvals
    .command('approve')
    .description('approve a request; it is applied immediately')
    .argument('<approval>', 'its id')
    .option('--note <text>', 'a note for the record')
    .option(...AS_OPTION)
    .option(...JSON_OPTION)
    .action((id: string, options: Options & { note?: string }) =>
      decide(options, ({ approvals: service }, decision) =>
        service.approve({ ...decision, approvalId: id, note: options.note ?? null }),
      ),
    );
  approvals
    .command('reject')
    .description('reject a request; nothing is changed')
    .argument('<approval>', 'its id')
    .requiredOption('--note <text>', 'why')
    .option(...AS_OPTION)
    .option(...JSON_OPTION)
    .action((id: string, options: Options & { note: string }) =>
      decide(options, ({ approvals: service }, decision) =>
        service.reject({ ...decision, approvalId: id, note: options.note }),
      ),
    );
  return approvals;
}

async function list(options: Options): Promise<void> {
  const found = await withServices(process.env, async ({ pool, approvals }) => {
    const actor = await actingPerson(pool, options, STAFF);
    return approvals.list({ actor, state: 'pending', limit: SHOWN, beforeId: null });
  });
  if (options.json) return printJson({ items: found.map(viewApproval) });
  const titles = ['Approval', 'What', 'About', 'Amount', 'Asked by', 'Reason'];
  const rows = found.map(({ id, kind, subject, amount, requestedBy, reason }) => [
    id,
    kind,
    subject,
    amount === null ? '' : `${formatAmount(nanos(amount))} credits`,
    requestedBy,
    reason,
  ]);
  printText(rows.length === 0 ? 'No approvals are waiting.' : table(titles, rows));
}

type Deciding = { actor: Awaited<ReturnType<typeof actingPerson>>; requestId: string };

async function decide(
  options: Options,
  work: (services: Services, decision: Deciding) => Promise<Approval>,
): Promise<void> {
  const approval = await withServices(process.env, async (services) => {
    const actor = await actingPerson(services.pool, options, STAFF);
    return work(services, { actor, requestId: operatorName() });
  });
  if (options.json) return printJson(viewApproval(approval));
  printText(
    facts([
      ['Approval', approval.id],
      ['What', `${approval.kind} of ${approval.subject}`],
      ['State', approval.self ? `${approval.state}, by the one who asked` : approval.state],
    ]),
  );
}
