import { Button, type ButtonProps } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { notifyFailure } from '../shell/notices.js';

interface ActionButtonProps extends ButtonProps {
  act: () => Promise<unknown>;
}

/** A button for actions that need no confirmation. A notice says if one failed. */
export function ActionButton({ act, ...button }: ActionButtonProps) {
  const action = useMutation({ mutationFn: act, onError: notifyFailure });
  return <Button variant="default" {...button} loading={action.isPending} onClick={() => action.mutate()} />;
}
