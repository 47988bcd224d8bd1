import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { FormDialog } from '../../ui/forms/form-dialog.js';
import { BothPrices } from '../../ui/money.js';
import { Hint } from '../../ui/texts.js';
import { TopUpForm } from '../wallet/top-up.js';

interface Sheet {
  opened: boolean;
  close: () => void;
  ordered: (orderId: string) => void;
}

/** Shown if the balance does not cover a call. Once the order is paid, the page returns and makes the call. */
export function TopUpSheet({ sheet, price }: { sheet: Sheet; price: { amount: string } | null }) {
  const { t } = useTranslation('calls');
  return (
    <FormDialog opened={sheet.opened} onClose={sheet.close} title={t('play.topUp.title')} size="lg">
      <Stack>
        {price && (
          <Hint>
            {t('play.topUp.hint')} <BothPrices value={price.amount} />
          </Hint>
        )}
        <TopUpForm ordered={sheet.ordered} />
      </Stack>
    </FormDialog>
  );
}
