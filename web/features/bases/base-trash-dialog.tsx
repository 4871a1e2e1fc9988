import type { Base } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Dialog } from '../../ui/overlays.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import { TrashList } from './trash-list.tsx'

/** Deleted bases, each with a way back. */
export function BaseTrashDialog(props: {
  onRestore: (base: Base) => void
  onPurge: (base: Base) => void
  onClose: () => void
}) {
  const { onRestore, onPurge, onClose } = props
  const trash = trpc.bases.list.useQuery({ trash: true }, { staleTime: 0 })
  return (
    <Dialog title={t('Deleted bases')} onClose={onClose}>
      <TrashList
        trash={trash}
        emptyText={t('Deleted bases appear here.')}
        icon={(base) => <BaseIcon base={base} size={28} />}
        onRestore={onRestore}
        onPurge={onPurge}
        keepsDays={({ keepsDays }) => keepsDays}
      />
    </Dialog>
  )
}
