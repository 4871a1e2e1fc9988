import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { inLine } from '../../records/base-queue.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { freeTitle } from '../imports/free-title.ts'
import styles from './copies.module.css'
import { copyTitle, DuplicateDialog } from './duplicate-dialog.tsx'

export interface DuplicateTableDialogProps {
  table: Table
  onClose: () => void
}

/** Copies a table within its base, from its menu or the palette, and opens the copy. */
export function DuplicateTableDialog({ table, onClose }: DuplicateTableDialogProps) {
  const { id: tableId, baseId, title } = table
  const schema = trpc.schema.table.useQuery({ tableId }, { staleTime: 60_000 })
  const isLinked = schema.data?.fields.some((field) => leadsElsewhere(field, tableId)) ?? false
  const taken = cache.schema.tables.getData({ baseId })?.map((other) => other.title) ?? []
  const problemOf = (name: string) => {
    if (name === '') return m.common_enter_a_name()
    return freeTitle(name, taken) === name ? null : m.copies_table_name_already_exists()
  }
  return (
    <DuplicateDialog
      title={title}
      newTitle={freeTitle(copyTitle(title), taken)}
      labels={{
        views: m.copies_include_all_views(),
        waiting: m.copies_duplicating_table_appears_next_original(),
      }}
      problemOf={problemOf}
      start={async (options) => {
        const copy = await inLine(baseId, () => api.copies.table.mutate({ tableId, options }))
        return {
          jobId: copy.jobId,
          async finish() {
            await cache.schema.invalidate()
            return m.copies_title_is_ready({ title: options.title })
          },
          open: () => goTo(paths.table(baseId, copy.tableId)),
        }
      }}
      onClose={onClose}
      note={isLinked && <p className={styles.text}>{m.copies_copy_links_of_table_hint()}</p>}
    />
  )
}

/** True for a link to another table. */
function leadsElsewhere(field: Field, tableId: string): boolean {
  const link = linkOf(field)
  return link !== null && !field.isSystem && link.relatedTableId !== tableId
}
