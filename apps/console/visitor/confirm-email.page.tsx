import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, queryClient } from '../api/client.js';
import { sessionQuery, useSession } from '../shell/session.js';
import { FormFault } from '../ui/forms/form.js';
import { TextLink } from '../ui/links.js';
import { LinkPage } from './link-page.js';

/** Asks for a click, since mail scanners open links too. */
export default function ConfirmEmailPage() {
  const { t } = useTranslation('visitor');
  return <LinkPage texts={t('confirmEmail')} form={Confirm} />;
}

function Confirm({ token }: { token: string }) {
  const { t } = useTranslation('visitor');
  const confirm = useMutation({
    mutationFn: async () => (await api.POST('/api/public/email-changes/confirm', { body: { token } })).data!,
    // Shows the new address if the user is signed in here.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  if (confirm.data) return <Confirmed email={confirm.data.email} />;
  return (
    <>
      <FormFault error={confirm.error} />
      <Button fullWidth loading={confirm.isPending} onClick={() => confirm.mutate()}>
        {t('confirmEmail.submit')}
      </Button>
    </>
  );
}

function Confirmed({ email }: { email: string }) {
  const { t } = useTranslation('visitor');
  const session = useSession();
  return (
    <>
      <Text role="status">{t('confirmEmail.done', { email })}</Text>
      <TextLink to={session ? '/account' : '/sign-in'}>
        {t(session ? 'confirmEmail.toAccount' : 'confirmEmail.toSignIn')}
      </TextLink>
    </>
  );
}
