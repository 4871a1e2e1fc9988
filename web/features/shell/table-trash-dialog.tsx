import { Table2 } from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TrashList } from '../bases/trash-list.tsx'
import { restoreTable } from './table-commands.tsx'

/** Deleted tables of a base, each with a way back. */
export function TableTrashDialog({ base, onClose }: { base: Base; onClose: () => void }) {
  const trash = trpc.schema.tables.useQuery({ baseId: base.id, trash: true }, { staleTime: 0 })
  return (
    <Dialog title={t('Deleted tables of "{title}"', { title: base.title })} onClose={onClose}>
      <TrashList
        trash={trash}
        emptyText={t('Tables that you delete wait here.')}
        icon={() => <Table2 size={18} />}
        onRestore={(table) => void restoreTable(table)}
      />
    </Dialog>
  )
}
