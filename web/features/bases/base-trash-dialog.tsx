import type { Base } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
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
    <Dialog title={m.bases_deleted_bases()} onClose={onClose}>
      <TrashList
        trash={trash}
        emptyText={m.bases_deleted_bases_appear_here()}
        icon={(base) => <BaseIcon base={base} size={28} />}
        onRestore={onRestore}
        onPurge={onPurge}
        keepsDays={({ keepsDays }) => keepsDays}
      />
    </Dialog>
  )
}
