import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { freeTitle } from '../imports/free-title.ts'
import { inLine } from '../records/queue/base-queue.ts'
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
    if (name === '') return t('Enter a name')
    return freeTitle(name, taken) === name ? null : t('A table with this name already exists')
  }
  return (
    <DuplicateDialog
      title={title}
      newTitle={freeTitle(copyTitle(title), taken)}
      labels={{
        views: t('Include all views'),
        waiting: t('Duplicating the table. It appears next to the original when ready.'),
      }}
      problemOf={problemOf}
      start={async (options) => {
        const copy = await inLine(baseId, () => api.copies.table.mutate({ tableId, options }))
        return {
          jobId: copy.jobId,
          async finish() {
            await cache.schema.invalidate()
            return t('“{title}” is ready', { title: options.title })
          },
          open: () => goTo(paths.table(baseId, copy.tableId)),
        }
      }}
      onClose={onClose}
      note={
        isLinked && (
          <p className={styles.text}>
            {t(
              'The copy gets its own link fields to the same records. Each linked table gets a matching field.',
            )}
          </p>
        )
      }
    />
  )
}

/** True for a link to another table. */
function leadsElsewhere(field: Field, tableId: string): boolean {
  const link = linkOf(field)
  return link !== null && !field.isSystem && link.relatedTableId !== tableId
}
