import { Anchor, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { stringifySearch } from '../../ui/search.js';

/** What proves a payment, in the language of the page. */
export function ReceiptButton({ topupId }: { topupId: string }) {
  const { t } = useTranslation('wallet');
  return (
    <Button component="a" href={useAddress(topupId)} download variant="default" w="fit-content">
      {t('order.receipt')}
    </Button>
  );
}

/** The same within a line: money that finance recorded came without an order, and has no page of its own. */
export function ReceiptLink({ topupId }: { topupId: string }) {
  const { t } = useTranslation('wallet');
  return (
    <Anchor href={useAddress(topupId)} download size="xs">
      {t('statement.receipt')}
    </Anchor>
  );
}

function useAddress(topupId: string): string {
  const { i18n } = useTranslation();
  return `/api/topups/${topupId}/receipt.pdf${stringifySearch({ language: i18n.language })}`;
}
