import type { Table } from '../../../src/core/model.ts'
import { appCodeOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { currentPath, goTo, paths } from '../../navigation/paths.ts'
import { api, cache } from '../../trpc.ts'
import { attempt, showError } from '../../ui/attempt.ts'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import { moveBefore } from '../../ui/sortable.tsx'
import { toast } from '../../ui/toast.ts'
import { askDelete } from '../schema/ask-delete.tsx'
import { readIcon } from '../views/icons/chosen-icon.tsx'
import type { RenameOptions } from './table-dialogs.tsx'

/** The shell preloads it when idle. */
export const CreateTableDialog = lazyDialog(() => import('./table-dialogs.tsx'), 'CreateTableDialog')
const DuplicateTableDialog = lazyDialog(
  () => import('../copies/duplicate-dialog.tsx'),
  'DuplicateTableDialog',
)
const ToBaseDialog = lazyDialog(() => import('../copies/to-base-dialog.tsx'), 'ToBaseDialog')
/** Edits the description of a table or view. */
export const DescriptionDialog = lazyDialog(() => import('./table-dialogs.tsx'), 'DescriptionDialog')
const RenameDialog = lazyDialog(() => import('./table-dialogs.tsx'), 'RenameDialog')
/** Chooses the icon of a table or view. */
export const IconDialog = lazyDialog(() => import('../views/icons/icon-dialog.tsx'), 'IconDialog')

const PerformanceDialog = lazyDialog(() => import('../indexes/performance-dialog.tsx'), 'PerformanceDialog')

/** Opens the dialog that creates a table. */
export const createTable = (baseId: string): void =>
  void openDialog((close) => <CreateTableDialog baseId={baseId} onClose={close} />)

/** Opens the dialog that duplicates a table. */
export const duplicateTable = (table: Table): void =>
  void openDialog((close) => <DuplicateTableDialog table={table} onClose={close} />)

/** Opens the dialog that copies or moves a table to another base. */
export const copyToBase = (table: Table, isMove: boolean): void =>
  void openDialog((close) => <ToBaseDialog table={table} isMove={isMove} onClose={close} />)

/** Opens how the views of a table are read, and its indexes. */
export const openPerformance = (table: Table): void =>
  void openDialog((close) => <PerformanceDialog table={table} onClose={close} />)

/** Opens the description of a table. */
export const describeTable = (table: Table): void =>
  void openDialog((close) => (
    <DescriptionDialog
      title={table.title}
      question={m.tables_describe_this_table()}
      description={table.description}
      onSave={(description) => updateTable(table, { description })}
      onClose={close}
    />
  ))

/** Opens the icon picker for a table. */
export const chooseTableIcon = (table: Table): void =>
  void openDialog((close) => (
    <IconDialog
      title={table.title}
      current={readIcon(table.meta)}
      onChoose={(icon) => updateTable(table, { meta: { ...table.meta, icon } })}
      onClose={close}
    />
  ))

/** Opens a dialog for another title. */
export const renameInDialog = (options: RenameOptions): void =>
  void openDialog((close) => <RenameDialog {...options} onClose={close} />)

/** Renames a table in a dialog, where inline editing is not possible. */
export const renameTableInDialog = (table: Table): void =>
  renameInDialog({
    heading: m.tables_rename_table(),
    emptyText: m.common_enter_a_name(),
    title: table.title,
    onRename: (title) => renameTable(table, title),
  })

/**
 * Renames a table.
 * @throws the server's error, for the input to show
 */
export const renameTable = (table: Table, title: string): Promise<void> => updateTable(table, { title })

async function updateTable(
  table: Table,
  patch: Partial<Pick<Table, 'title' | 'description' | 'meta'>>,
): Promise<void> {
  const saved = await api.schema.updateTable.mutate({ tableId: table.id, ...patch })
  cache.schema.tables.setData({ baseId: table.baseId }, (list) =>
    list?.map((one) => (one.id === saved.id ? saved : one)),
  )
  void cache.schema.table.invalidate({ tableId: table.id })
}

/** Moves a table before another one in the sidebar, or to the end (null). */
export async function reorderTable(baseId: string, tableId: string, before: string | null): Promise<void> {
  const previous = cache.schema.tables.getData({ baseId })
  cache.schema.tables.setData({ baseId }, (list) => list && moveBefore(list, tableId, before))
  try {
    await api.schema.reorderTable.mutate({ tableId, before })
  } catch (error) {
    cache.schema.tables.setData({ baseId }, previous)
    showError(error)
  }
}

/** Moves a table to the trash; the message offers Undo. */
export async function deleteTable(table: Table): Promise<void> {
  const { baseId } = table
  if (!(await mayDelete(table))) return
  const previous = cache.schema.tables.getData({ baseId })
  const wasOpen = currentPath().includes(`/${table.id}`)
  cache.schema.tables.setData({ baseId }, (list) => list?.filter(({ id }) => id !== table.id))
  if (wasOpen) goTo(paths.base(baseId))
  try {
    await api.schema.deleteTable.mutate({ tableId: table.id })
  } catch (error) {
    cache.schema.tables.setData({ baseId }, previous)
    showError(error)
    return
  }
  toast.success({
    text: m.tables_table_title_deleted_records_views({ title: table.title }),
    action: { label: m.common_undo(), run: () => restoreTable(table, wasOpen) },
  })
}

/** Lists what is deleted with a table or depends on it. @returns whether the user confirmed */
async function mayDelete({ id: tableId, title }: Table): Promise<boolean> {
  try {
    const [{ count }, { views }] = await Promise.all([
      api.records.count.query({ selection: { tableId } }).catch(unknownCount),
      api.schema.table.query({ tableId }),
    ])
    const names = {
      records: count === null ? m.tables_its_records() : m.common_records_count({ count }),
      views: m.tables_views_count({ count: views.length }),
    }
    return await askDelete(
      { tableId },
      {
        title: m.tables_delete_table_confirm({ title }),
        text: m.tables_delete_table_consequences(names),
        confirmLabel: m.tables_delete_table(),
      },
    )
  } catch (error) {
    showError(error)
    return false
  }
}

/** A table can be deleted even if its connected database does not answer. */
const unknownCount = (error: unknown): { count: null } => {
  if (appCodeOf(error) === 'DATABASE_UNREACHABLE') return { count: null }
  throw error
}

/** Restores a table from the trash; `open` also opens it. */
export async function restoreTable(table: Table, open = false): Promise<void> {
  await attempt(async () => {
    await api.schema.restoreTable.mutate({ tableId: table.id })
    await cache.schema.tables.invalidate()
    void cache.schema.table.invalidate({ tableId: table.id })
    if (open) goTo(paths.table(table.baseId, table.id))
    toast.success({ text: m.tables_table_title_was_restored({ title: table.title }) })
  })
}
