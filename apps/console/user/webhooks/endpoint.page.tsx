import { Button, Group, Stack, Text, type TextProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useParams, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { FormDialog } from '../../ui/forms/form-dialog.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { BackLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { EndpointForm, Secret } from './create-endpoint.js';
import { Deliveries } from './deliveries.js';
import { EndpointState } from './endpoint.js';
import { ActionButton } from '../../ui/action-button.js';
import { useOwnState } from '../../shell/session.js';

export default function EndpointPage() {
  const { t } = useTranslation('webhooks');
  const { endpointId } = useParams({ from: '/user/webhooks/$endpointId' });
  const endpoint = useRead('/api/webhooks/{endpointId}', { path: { endpointId } });
  return (
    <PageFrame title={t('one.title')}>
      <BackLink to="/webhooks">{t('one.back')}</BackLink>
      <Loaded query={endpoint} lines={6}>
        {(found) => (
          <>
            <About endpoint={found} />
            <Actions endpoint={found} />
            <Section title={t('deliveries.title')}>
              <Deliveries endpoint={found} />
            </Section>
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

function About({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const comma = useTranslation('shell').t('comma');
  const { url, description, events, failingSince, previousSecretUntil } = endpoint;
  return (
    <Stack gap="xs">
      <Group>
        <Text fw={600} className="model-name">
          {url}
        </Text>
        <EndpointState endpoint={endpoint} />
      </Group>
      {description && <Text>{description}</Text>}
      <Text size="sm">
        {t('one.subscribed', { events: events.map((type) => t('events')[type]).join(comma) })}
      </Text>
      <Moment words={t('one.failingSince')} at={failingSince} c="red" />
      <Moment words={t('one.bothSign')} at={previousSecretUntil} />
    </Stack>
  );
}

interface MomentProps extends TextProps {
  words: string;
  at: string | null;
}

function Moment({ words, at, ...text }: MomentProps) {
  if (at === null) return null;
  return (
    <Text size="sm" {...text}>
      {words} <When at={at} />
    </Text>
  );
}

async function reread(): Promise<void> {
  await refresh(
    '/api/webhooks',
    '/api/webhooks/{endpointId}',
    '/api/webhooks/{endpointId}/deliveries',
    '/api/webhooks/{endpointId}/deliveries/{deliveryId}',
  );
}

function Actions({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const path = { endpointId: endpoint.id };
  const ping = async () => {
    await api.POST('/api/webhooks/{endpointId}/pings', { params: { path } });
    notify(t('one.pinged'));
    await reread();
  };
  return (
    <Group gap="sm">
      {endpoint.enabled && (
        <ActionButton variant="filled" act={ping}>
          {t('one.ping')}
        </ActionButton>
      )}
      <Change endpoint={endpoint} />
      <Rotate endpoint={endpoint} />
      <Switch endpoint={endpoint} />
      <Remove endpoint={endpoint} />
    </Group>
  );
}

function Remove({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const navigate = useNavigate();
  const remove = async () => {
    await api.DELETE('/api/webhooks/{endpointId}', { params: { path: { endpointId: endpoint.id } } });
    await navigate({ to: '/webhooks' });
    await refresh('/api/webhooks');
  };
  return <ConfirmAction texts={t('one.remove')} act={remove} />;
}

function Change({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const [isOpen, { open, close }] = useDisclosure(false);
  const params = { path: { endpointId: endpoint.id } };
  return (
    <>
      <Button variant="default" onClick={open}>
        {t('one.change')}
      </Button>
      <FormDialog opened={isOpen} onClose={close} title={t('one.change')} size="lg">
        <EndpointForm
          endpoint={endpoint}
          submit={t('one.save')}
          send={async (body) => (await api.PATCH('/api/webhooks/{endpointId}', { params, body })).data!}
          done={close}
        />
      </FormDialog>
    </>
  );
}

/** Two secrets sign at a time. If there are two already, the owner says which of them to keep. */
function Rotate({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const [secret, setSecret] = useOwnState<string>();
  const doBothSign = endpoint.previousSecretUntil !== null;
  const receiverHas = choiceField(t('one.receiverHas.label'), {
    of: ['current', 'previous'],
    name: (which) => t(`one.receiverHas.${which}`),
    hint: t('one.receiverHas.hint'),
  });
  return (
    <>
      <ModalForm
        texts={t('one.rotate')}
        fields={{ receiverHas }}
        hidden={() => (doBothSign ? [] : ['receiverHas'])}
        send={async (values) => {
          const params = { path: { endpointId: endpoint.id }, query: doBothSign ? values : {} };
          return (await api.POST('/api/webhooks/{endpointId}/secret', { params })).data!;
        }}
        reread={reread}
        done={(made) => setSecret(made.secret)}
      />
      <NewSecret secret={secret} close={() => setSecret(null)} />
    </>
  );
}

function NewSecret({ secret, close }: { secret: string | null; close: () => void }) {
  const { t } = useTranslation('webhooks');
  return (
    <Dialog
      opened={secret !== null}
      onClose={close}
      withCloseButton={false}
      title={t('secret.title')}
      size="lg"
    >
      {secret !== null && <Secret secret={secret} close={close} />}
    </Dialog>
  );
}

function Switch({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const params = { path: { endpointId: endpoint.id } };
  const body = { enabled: !endpoint.enabled };
  const way = endpoint.enabled ? 'off' : 'on';
  return (
    <ConfirmAction
      texts={t(`one.turn.${way}`)}
      isDangerous={endpoint.enabled}
      act={() => api.PATCH('/api/webhooks/{endpointId}', { params, body })}
      reread={reread}
    />
  );
}
