import { Anchor, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { stringifySearch } from '../../ui/search.js';

/** A receipt in the page's language. */
export function ReceiptButton({ topupId }: { topupId: string }) {
  const { t } = useTranslation('wallet');
  return (
    <Button component="a" href={useAddress(topupId)} download variant="default" w="fit-content">
      {t('order.receipt')}
    </Button>
  );
}

/** The same as a link: payments recorded by finance have no order page. */
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
