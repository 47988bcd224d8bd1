import type { Command } from 'commander';
import type { Approval } from '#approvals/approval.entity.js';
import type { ApprovalService } from '#approvals/approval.service.js';
import { viewApproval } from '#approvals/approvals.view.js';
import { rolesOfStaff } from '#identity/role.js';
import { formatAmount, nanos } from '#money/amount.js';
import { command } from './command.js';
import { AS_OPTION, type Acting, actingPerson } from './acting.js';
import { withServices } from './services.js';
import { operatorName } from './operator-name.js';
import { firstItems, printFacts, printJson, printList, printText } from './output.js';

const SHOWN = 200;

interface Options extends Acting {
  json?: boolean;
}

export function approvalsCommand(): Command {
  const approvals = command('approvals', 'requests that a second person has to decide');
  command('list', 'pending requests that the acting person can decide, newest first', approvals)
    .option(...AS_OPTION)
    .action(list);
  command('approve', 'approve a request; it is applied immediately', approvals)
    .argument('<approval>', 'its id')
    .option('--note <text>', 'a note for the record')
    .option(...AS_OPTION)
    .action((approvalId: string, { note = null, ...options }: Options & { note?: string | null }) =>
      decide(options, (service, decision) => service.approve({ ...decision, approvalId, note })),
    );
  command('reject', 'reject a request; nothing is changed', approvals)
    .argument('<approval>', 'its id')
    .requiredOption('--note <text>', 'why')
    .option(...AS_OPTION)
    .action((approvalId: string, { note, ...options }: Options & { note: string }) =>
      decide(options, (service, decision) => service.reject({ ...decision, approvalId, note })),
    );
  return approvals;
}

async function list(options: Options): Promise<void> {
  const found = await withServices(async ({ pool, approvals }) => {
    const actor = await actingPerson(pool, options, rolesOfStaff);
    return approvals.list({ actor, state: 'pending', limit: SHOWN, beforeId: null });
  });
  const { items, more } = firstItems(found, SHOWN);
  await printList(options, {
    items,
    json: { items: items.map(viewApproval), more },
    table: {
      Approval: 'id',
      What: 'kind',
      About: 'subject',
      Amount: ({ amount }) => (amount === null ? '' : `${formatAmount(nanos(amount))} credits`),
      'Asked by': 'requestedBy',
      Reason: 'reason',
    },
    none: 'No approvals are waiting.',
  });
  if (more && !options.json) printText(`There are more than these ${SHOWN}. The console shows them all.`);
}

type Deciding = { actor: Awaited<ReturnType<typeof actingPerson>>; requestId: string };

async function decide(
  options: Options,
  work: (service: ApprovalService, decision: Deciding) => Promise<Approval>,
): Promise<void> {
  const approval = await withServices(async ({ pool, approvals }) => {
    const actor = await actingPerson(pool, options, rolesOfStaff);
    return work(approvals, { actor, requestId: operatorName() });
  });
  if (options.json) return printJson(viewApproval(approval));
  printFacts([
    ['Approval', approval.id],
    ['What', `${approval.kind} of ${approval.subject}`],
    ['State', approval.self ? `${approval.state}, by the one who asked` : approval.state],
  ]);
}
