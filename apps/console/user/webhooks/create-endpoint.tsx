import { Alert, Button, Checkbox, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { useSession } from '../../shell/session.js';
import { CopyLine } from '../../ui/copy.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { TextField } from '../../ui/forms/fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { endpointEvents, financeEndpointEvents } from './endpoint.js';

interface ModalProps {
  isOpen: boolean;
  close: () => void;
}

/** Adds an endpoint, then shows its secret, this once. */
export function CreateEndpoint({ isOpen, close }: ModalProps) {
  const { t } = useTranslation('webhooks');
  const [secret, setSecret] = useState<string | null>(null);
  const leave = () => {
    setSecret(null);
    close();
  };
  return (
    <Dialog
      opened={isOpen}
      onClose={leave}
      closeOnClickOutside={secret === null}
      title={secret === null ? t('endpoints.add') : t('secret.title')}
      size="lg"
    >
      {secret === null ? (
        <EndpointForm
          submit={t('endpoints.create')}
          send={async (body) => (await api.POST('/api/webhooks', { body })).data!}
          done={(created) => setSecret(created.secret)}
        />
      ) : (
        <Secret secret={secret} close={leave} />
      )}
    </Dialog>
  );
}

/** What signatures are verified with. It is not shown again. */
export function Secret({ secret, close }: { secret: string; close: () => void }) {
  const { t } = useTranslation('webhooks');
  return (
    <Stack>
      <Alert color="yellow">{t('secret.once')}</Alert>
      <CopyLine value={secret} label={t('secret.label')} />
      <Text size="sm">{t('secret.hint')}</Text>
      <Button onClick={close} w="fit-content">
        {t('secret.done')}
      </Button>
    </Stack>
  );
}

interface EndpointValues extends Record<string, unknown> {
  url: string;
  description: string;
  events: Shape<'WebhookEndpoint'>['events'];
}

interface FormProps<Answer> {
  endpoint?: Shape<'WebhookEndpoint'>;
  submit: string;
  send: (values: EndpointValues) => Promise<Answer>;
  done: (answer: Answer) => void;
}

/** Where to, and what of. */
export function EndpointForm<Answer>({ endpoint, submit, send, done }: FormProps<Answer>) {
  const { t } = useTranslation('webhooks');
  const isFinance = useSession()?.roles.includes('finance') ?? false;
  const offered = endpointEvents.filter((type) => isFinance || !financeEndpointEvents.includes(type));
  const form = useForm<EndpointValues>({
    initialValues: {
      url: endpoint?.url ?? '',
      description: endpoint?.description ?? '',
      events: endpoint?.events ?? offered.filter((type) => !financeEndpointEvents.includes(type)),
    },
    validate: {
      url: (value) => (URL.canParse(value) ? null : t('endpoints.urlInvalid')),
      events: (value) => (value.length > 0 ? null : t('endpoints.eventsMissing')),
    },
  });
  const sending = useSend({
    form,
    send,
    done: async (answer) => {
      await refresh('/api/webhooks', '/api/webhooks/{endpointId}');
      done(answer);
    },
  });
  return (
    <SendForm sending={sending} submit={submit}>
      <TextField
        form={form}
        name="url"
        label={t('endpoints.url')}
        description={t('endpoints.urlHint')}
        placeholder="https://example.com/hooks/tollgate"
        inputMode="url"
        required
      />
      <TextField form={form} name="description" label={t('endpoints.description')} maxLength={200} />
      <Checkbox.Group label={t('endpoints.events')} required {...form.getInputProps('events')}>
        <Stack gap="xs" pt="xs">
          {offered.map((type) => (
            <Checkbox key={type} value={type} label={t(`events.${type}`)} description={type} />
          ))}
        </Stack>
      </Checkbox.Group>
    </SendForm>
  );
}
