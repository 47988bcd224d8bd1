import type { ModalProps } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { AskedForms } from './asking.js';
import { Dialog } from './dialog.js';

const LeaveDialog = lazy(() => import('./leave-dialog.js'));

/** The question ends by itself once nothing would be lost, such as when an answer arrives meanwhile. */
function useAsking() {
  const [isAsking, ask] = useState(false);
  const [asked] = useState(() => {
    const forms = new Set<() => boolean>();
    const isDirty = () => [...forms].some((isFormDirty) => isFormDirty());
    const look = () => {
      if (!isDirty()) ask(false);
    };
    return { forms, isDirty, look };
  });
  return { asked, isAsking, ask };
}

/** A dialog with a form. It asks before unsent input is lost; the form's own buttons close it without a question. */
export function FormDialog({ onClose, children, ...dialog }: ModalProps) {
  const { asked, isAsking, ask } = useAsking();
  const leave = () => {
    ask(false);
    onClose();
  };
  const close = () => {
    if (asked.isDirty()) ask(true);
    else onClose();
  };
  return (
    <>
      <Dialog {...dialog} onClose={close}>
        <AskedForms value={asked}>{children}</AskedForms>
      </Dialog>
      {isAsking && (
        <Suspense>
          <LeaveDialog stay={() => ask(false)} leave={leave} />
        </Suspense>
      )}
    </>
  );
}
