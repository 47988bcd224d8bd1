import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape } from '../../api/client.js';
import { useOwnState, useSession } from '../../shell/session.js';
import { CopyLine } from '../../ui/copy.js';
import { ticksField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import { FormDialog } from '../../ui/forms/form-dialog.js';
import { ShownOnce } from '../../ui/forms/shown-once.js';
import { textField } from '../../ui/forms/text-fields.js';
import { endpointEvents, financeEndpointEvents } from './endpoint.js';

type EndpointValues = Pick<Shape<'WebhookEndpoint'>, 'url' | 'description' | 'events'>;

interface ModalProps {
  isOpen: boolean;
  close: () => void;
}

async function create(body: EndpointValues) {
  return (await api.POST('/api/webhooks', { body })).data!;
}

/** Shows the new endpoint's secret once. */
export function CreateEndpoint({ isOpen, close }: ModalProps) {
  const { t } = useTranslation('webhooks');
  const [secret, setSecret] = useOwnState<string>();
  const leave = () => {
    setSecret(null);
    close();
  };
  return (
    <FormDialog
      opened={isOpen}
      onClose={leave}
      title={secret === null ? t('endpoints.add') : t('secret.title')}
      size="lg"
    >
      {secret === null ? (
        <EndpointForm submit={t('endpoints.create')} send={create} done={(made) => setSecret(made.secret)} />
      ) : (
        <Secret secret={secret} close={leave} />
      )}
    </FormDialog>
  );
}

/** The secret that verifies signatures. */
export function Secret({ secret, close }: { secret: string; close: () => void }) {
  const { t } = useTranslation('webhooks');
  return (
    <ShownOnce hint={t('secret.once')} done={close}>
      <CopyLine value={secret} label={t('secret.label')} />
      <Text size="sm">{t('secret.hint')}</Text>
    </ShownOnce>
  );
}

interface FormProps<Answer> {
  endpoint?: Shape<'WebhookEndpoint'>;
  submit: string;
  send: (values: EndpointValues) => Promise<Answer>;
  done: (answer: Answer) => void;
}

/** Finance events are only offered to the finance role, and never ticked at first. */
function useEvents(initial: EndpointValues['events'] | undefined) {
  const { t } = useTranslation('webhooks');
  const isFinance = useSession()?.roles.includes('finance') ?? false;
  const usual = endpointEvents.filter((type) => !financeEndpointEvents.includes(type));
  return ticksField(t('endpoints.events'), {
    initial: initial ?? usual,
    of: isFinance ? endpointEvents : usual,
    name: (type) => t('events')[type],
    about: (type) => type,
    missing: t('endpoints.eventsMissing'),
  });
}

export function EndpointForm<Answer>({ endpoint, ...form }: FormProps<Answer>) {
  const { t } = useTranslation('webhooks');
  return (
    <Form
      fields={{
        url: textField(t('endpoints.url'), {
          initial: endpoint?.url ?? '',
          hint: t('endpoints.urlHint'),
          placeholder: 'https://example.com/hooks/tollgate',
          inputMode: 'url',
          rule: [(url) => URL.canParse(url), t('endpoints.urlInvalid')],
        }),
        description: textField(t('endpoints.description'), {
          initial: endpoint?.description ?? '',
          maxLength: 200,
        }),
        events: useEvents(endpoint?.events),
      }}
      reread={() => refresh('/api/webhooks', '/api/webhooks/{endpointId}')}
      {...form}
    />
  );
}
