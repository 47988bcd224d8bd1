import { type AnchorProps, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../ui/links.js';
import { Named } from '../ui/named.js';
import type { DaySpan } from './utc-days.js';

const MOST_SHOWN = 6;

/** Links to ledger transactions. */
export function TransactionLinks({ ids }: { ids: readonly (string | null)[] }) {
  const { t } = useTranslation('finance');
  const known = ids.filter((id): id is string => id !== null);
  if (known.length === 0) return '–';
  return (
    <Group gap="xs" component="span">
      {known.slice(0, MOST_SHOWN).map((transactionId) => (
        <TextLink
          key={transactionId}
          to="/finance/transactions/$transactionId"
          params={{ transactionId }}
          size="sm"
          aria-label={t('transaction.link', { id: transactionId })}
        >
          #{transactionId}
        </TextLink>
      ))}
      {known.length > MOST_SHOWN && <span>+{known.length - MOST_SHOWN}</span>}
    </Group>
  );
}

/** Links to what a charge earned and cost. */
export function ChargeLink({ id }: { id: string | null }) {
  if (id === null) return '–';
  return (
    <TextLink
      to="/finance/charges/$chargeId"
      params={{ chargeId: id }}
      size="xs"
      ff="monospace"
      className="model-name"
    >
      {id}
    </TextLink>
  );
}

/** Links to the ledger accounts of a customer. */
export function AccountLink({ id }: { id: string | null }) {
  if (id === null) return '–';
  return (
    <TextLink to="/finance/ledger-accounts" search={{ code: `customer:${id}` }} size="sm">
      <Named kind="account" id={id} />
    </TextLink>
  );
}

interface LedgerAccountLinkProps extends Pick<AnchorProps, 'size'> {
  id: string;
  code: string;
  search?: DaySpan;
}

export function LedgerAccountLink({ id, code, ...link }: LedgerAccountLinkProps) {
  return (
    <TextLink
      to="/finance/ledger-accounts/$ledgerAccountId"
      params={{ ledgerAccountId: id }}
      className="model-name"
      {...link}
    >
      {code}
    </TextLink>
  );
}
