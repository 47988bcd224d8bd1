import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { OwnOnly } from '../../shell/own-only.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { CreateEndpoint } from './create-endpoint.js';
import { EndpointState } from './endpoint.js';
import { isDecimal } from '../../ui/decimal.js';
import { Form } from '../../ui/forms/declared.js';
import { creditsField, orNull } from '../../ui/forms/text-fields.js';
import { Money } from '../../ui/money.js';
import { Hint } from '../../ui/texts.js';

export default function WebhooksPage() {
  const { t } = useTranslation('webhooks');
  return (
    <PageFrame title={t('title')} about={t('about')}>
      <Section title={t('alerts.title')}>
        <Alerts />
      </Section>
      <Section title={t('endpoints.title')} aside={<AddEndpoint />}>
        <DataList query={useRead('/api/webhooks')} columns={useColumns()} empty={t('endpoints.empty')} />
      </Section>
    </PageFrame>
  );
}

function AddEndpoint() {
  const { t } = useTranslation('webhooks');
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <OwnOnly>
      <Button onClick={open}>{t('endpoints.add')}</Button>
      <CreateEndpoint isOpen={isOpen} close={close} />
    </OwnOnly>
  );
}

function useColumns(): ListColumn<Shape<'WebhookEndpoint'>>[] {
  const { t } = useTranslation('webhooks');
  const comma = useTranslation('shell').t('comma');
  return [
    column('url', t('endpoints.url'), ({ id, url }) => (
      <TextLink to="/webhooks/$endpointId" params={{ endpointId: id }} className="model-name">
        {url}
      </TextLink>
    )),
    column('description', t('endpoints.description'), ({ description }) => description || '–'),
    column('events', t('endpoints.events'), ({ events }) =>
      events.map((event) => t('events')[event]).join(comma),
    ),
    column('state', t('endpoints.state'), (endpoint) => <EndpointState endpoint={endpoint} />),
    timeColumn('createdAt', t('endpoints.created')),
  ];
}

function Alerts() {
  return (
    <Loaded query={useRead('/api/account')} lines={4}>
      {(found) => <AlertsForm account={found} />}
    </Loaded>
  );
}

function useFields({ lowBalanceThreshold, monthlyLimit }: Shape<'Account'>) {
  const { t } = useTranslation('webhooks');
  const rules = { rule: [isDecimal, t('alerts.invalid')] as const, isOptional: true, isHalf: true };
  const amount = (name: 'threshold' | 'monthlyLimit', value: string | null, placeholder: string) =>
    orNull(
      creditsField(t(`alerts.${name}`), {
        ...rules,
        initial: value ?? '',
        hint: t(`alerts.${name}Hint`),
        placeholder,
      }),
    );
  return {
    lowBalanceThreshold: amount('threshold', lowBalanceThreshold, t('alerts.never')),
    monthlyLimit: amount('monthlyLimit', monthlyLimit, t('alerts.noLimit')),
  };
}

function AlertsForm({ account }: { account: Shape<'Account'> }) {
  const { t } = useTranslation('webhooks');
  return (
    <Form
      fields={useFields(account)}
      submit={t('alerts.save')}
      foot={
        <Hint>
          {t('alerts.spent')} <Money value={account.spentThisMonth} />
        </Hint>
      }
      send={(body) => api.PATCH('/api/account', { body })}
      reread={() => refresh('/api/account')}
      success={() => t('alerts.saved')}
    />
  );
}
