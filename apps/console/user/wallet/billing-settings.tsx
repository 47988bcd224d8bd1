import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { useIsViewing } from '../../shell/session.js';
import { Form } from '../../ui/forms/declared.js';
import { linesField } from '../../ui/forms/lines-field.js';
import { orNull, textField } from '../../ui/forms/text-fields.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Loaded } from '../../ui/states.js';
import { TextLine } from '../../ui/texts.js';

const MOST_CHARS = 100;
const MOST_ADDRESS_CHARS = 300;

/** Applies to future receipts and statements. */
export function BillingSettings() {
  const isViewing = useIsViewing();
  return (
    <Loaded query={useRead('/api/account/billing-details')} lines={6}>
      {(found) => (isViewing ? <Details details={found} /> : <DetailsForm details={found} />)}
    </Loaded>
  );
}

/** For support staff who view the account. */
function Details({ details }: { details: Shape<'BillingDetails'> }) {
  const { t } = useTranslation('wallet');
  const names = ['name', 'address', 'taxId'] as const;
  return (
    <Facts label={t('tabs.details')}>
      {names.map((name) => (
        <Fact
          key={name}
          name={t(`details.${name}`)}
          value={details[name] === null ? '–' : <span className="spoken">{details[name]}</span>}
        />
      ))}
    </Facts>
  );
}

function useFields({ name, address, taxId }: Shape<'BillingDetails'>) {
  const { t } = useTranslation('wallet');
  const line = (value: string | null) => ({ initial: value ?? '', maxLength: MOST_CHARS, maw: '26rem' });
  const lines = { ...line(address), maxLength: MOST_ADDRESS_CHARS, autoComplete: 'street-address' };
  const ofName = { ...line(name), hint: t('details.nameHint'), autoComplete: 'organization' };
  return {
    name: orNull(textField(t('details.name'), ofName)),
    address: orNull(linesField(t('details.address'), lines)),
    taxId: orNull(textField(t('details.taxId'), { ...line(taxId), hint: t('details.taxIdHint') })),
  };
}

function DetailsForm({ details }: { details: Shape<'BillingDetails'> }) {
  const { t } = useTranslation('wallet');
  return (
    <Form
      fields={useFields(details)}
      submit={t('details.save')}
      send={(body) => api.PUT('/api/account/billing-details', { body })}
      reread={() => refresh('/api/account/billing-details')}
      success={() => t('details.saved')}
    >
      <TextLine>{t('details.about')}</TextLine>
    </Form>
  );
}
