import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { OwnOnly } from '../../shell/own-only.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Alerts } from './alerts.js';
import { CreateEndpoint } from './create-endpoint.js';
import { EndpointState } from './endpoint.js';

export function WebhooksPage() {
  const { t } = useTranslation('webhooks');
  return (
    <PageFrame title={t('title')} about={t('about')}>
      <Section title={t('alerts.title')}>
        <Alerts />
      </Section>
      <Section title={t('endpoints.title')} aside={<AddEndpoint />}>
        <DataList
          label={t('endpoints.title')}
          query={useRead('/api/webhooks')}
          columns={useColumns()}
          empty={{ title: t('endpoints.empty'), hint: t('endpoints.emptyHint') }}
        />
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
      events.map((event) => t(`events.${event}`)).join(comma),
    ),
    column('state', t('endpoints.state'), (endpoint) => <EndpointState endpoint={endpoint} />),
    timeColumn('createdAt', t('endpoints.created')),
  ];
}
