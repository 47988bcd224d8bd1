import { useRead } from '../../api/client.js';
import type { NavLinkPlace, Workspace } from './navigation.js';

const LOOK_AGAIN_MS = 60_000;
/** More are shown as 99+. */
export const MOST_COUNTED = 100;

/** How much work waits behind each link of a workspace. */
export function useCounts(
  workspace: Workspace['label'] | undefined,
): Partial<Record<NavLinkPlace['label'], number | undefined>> {
  const options = (...labels: Workspace['label'][]) => ({
    enabled: workspace !== undefined && labels.includes(workspace),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const ask = <State extends string>(state: State) => ({ query: { state, limit: MOST_COUNTED } });
  const tickets = useRead('/api/support/tickets', ask('open'), options('support'));
  const approvals = useRead('/api/approvals', ask('pending'), options('support', 'finance'));
  const proposals = useRead('/api/admin/price-proposals', ask('open'), options('admin'));
  const controls = useRead('/api/finance/controls', {}, options('finance'));
  return {
    queue: tickets.data?.items.length,
    approvals: approvals.data?.items.length,
    prices: proposals.data?.items.length,
    books: controls.data?.items.filter(({ openFindings }) => openFindings > 0).length,
  };
}
