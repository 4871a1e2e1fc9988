import { t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { deleteBaseForever, restoreBase } from './base-commands.tsx'
import { BaseIcon } from './base-icon.tsx'
import { TrashList } from './trash-list.tsx'

/** Deleted bases, each with a way back. */
export function BaseTrashDialog({ onClose }: { onClose: () => void }) {
  const trash = trpc.bases.list.useQuery({ trash: true }, { staleTime: 0 })
  return (
    <Dialog title={t('Deleted bases')} onClose={onClose}>
      <TrashList
        trash={trash}
        emptyText={t('Deleted bases appear here.')}
        icon={(base) => <BaseIcon base={base} size={28} />}
        onRestore={(base) => void restoreBase(base)}
        onPurge={(base) => void deleteBaseForever(base)}
        keepsDays={({ keepsDays }) => keepsDays}
      />
    </Dialog>
  )
}
