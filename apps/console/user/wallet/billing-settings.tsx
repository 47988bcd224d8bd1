import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { useIsViewing } from '../../shell/session.js';
import { Form } from '../../ui/forms/declared.js';
import { linesField, textField } from '../../ui/forms/text-fields.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Loaded } from '../../ui/states.js';
import { TextLine } from '../../ui/texts.js';

const MOST_CHARS = 100;
const MOST_ADDRESS_CHARS = 300;

/** What receipts and statements say about the buyer from now on. */
export function BillingSettings() {
  const details = $api.useQuery('get', '/api/account/billing-details');
  const isViewing = useIsViewing();
  return (
    <Loaded query={details} lines={6}>
      {(found) => (isViewing ? <Details details={found} /> : <DetailsForm details={found} />)}
    </Loaded>
  );
}

/** For support who view the account. */
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

function DetailsForm({ details }: { details: Shape<'BillingDetails'> }) {
  const { t } = useTranslation('wallet');
  const line = { maxLength: MOST_CHARS, maw: '26rem' };
  return (
    <Form
      fields={{
        name: textField(t('details.name'), {
          ...line,
          initial: details.name ?? '',
          hint: t('details.nameHint'),
          autoComplete: 'organization',
        }),
        address: linesField(t('details.address'), {
          initial: details.address ?? '',
          maxLength: MOST_ADDRESS_CHARS,
          maw: '26rem',
          autoComplete: 'street-address',
        }),
        taxId: textField(t('details.taxId'), {
          ...line,
          initial: details.taxId ?? '',
          hint: t('details.taxIdHint'),
        }),
      }}
      submit={t('details.save')}
      send={({ name, address, taxId }) => {
        const body = { name: name || null, address: address || null, taxId: taxId || null };
        return api.PUT('/api/account/billing-details', { body });
      }}
      done={async () => {
        notify(t('details.saved'));
        await refresh('/api/account/billing-details');
      }}
    >
      <TextLine>{t('details.about')}</TextLine>
    </Form>
  );
}
