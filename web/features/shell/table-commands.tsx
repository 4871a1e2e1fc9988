import type { Base, Table, View } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { lazyPart } from '../../routes/lazy-screen.ts'
import { currentPath, goTo, paths } from '../../routes/paths.ts'
import { api, cache } from '../../trpc.ts'
import { confirm, openDialog } from '../../ui/open-dialog.tsx'
import { moveBefore } from '../../ui/sortable.tsx'
import { toast } from '../../ui/toast.ts'
import { unusedTitle } from '../bases/unused-title.ts'
import { askDelete } from '../schema/ask-delete.tsx'

/** Fetched by the shell while idle, so that it opens at once. */
export const CreateTableDialog = lazyPart(() => import('./create-table-dialog.tsx'), 'CreateTableDialog')
const TableTrashDialog = lazyPart(() => import('./table-trash-dialog.tsx'), 'TableTrashDialog')
const DescriptionDialog = lazyPart(() => import('./description-dialog.tsx'), 'DescriptionDialog')

/** Asks for a name, makes the table and opens it. */
export const createTable = (baseId: string): void =>
  void openDialog((close) => <CreateTableDialog baseId={baseId} onClose={close} />)

/** Shows the deleted tables of a base, to bring them back. */
export const openTableTrash = (base: Base): void =>
  void openDialog((close) => <TableTrashDialog base={base} onClose={close} />)

/** Edits what a table is for. */
export const describeTable = (table: Table): void =>
  void openDialog((close) => <DescriptionDialog table={table} onClose={close} />)

/**
 * Gives a table another title.
 *
 * @throws what the server refused with, so that the input can keep the text and say why
 */
export async function renameTable(table: Table, title: string): Promise<void> {
  const saved = await api.schema.updateTable.mutate({ tableId: table.id, title })
  cache.schema.tables.setData({ baseId: table.baseId }, (list) =>
    list?.map((one) => (one.id === saved.id ? saved : one)),
  )
  void cache.schema.table.invalidate({ tableId: table.id })
}

/** Puts a table ahead of another in the tree; null: to the end. */
export async function reorderTable(baseId: string, tableId: string, before: string | null): Promise<void> {
  const previous = cache.schema.tables.getData({ baseId })
  cache.schema.tables.setData({ baseId }, (list) => list && moveBefore(list, tableId, before))
  try {
    await api.schema.reorderTable.mutate({ tableId, before })
  } catch (error) {
    cache.schema.tables.setData({ baseId }, previous)
    toast.error({ text: messageOf(error) })
  }
}

/** Puts a table in the trash with its records and views; the message offers to take it back. */
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
    toast.error({ text: messageOf(error) })
    return
  }
  toast.success({
    text: t('Table "{title}" was deleted with its records and views', { title: table.title }),
    action: { label: t('Undo'), run: () => restoreTable(table, wasOpen) },
  })
}

/** Says what of other tables goes with a table, or stops working; true where the person agrees. */
async function mayDelete({ id, title }: Table): Promise<boolean> {
  try {
    return await askDelete(
      { tableId: id },
      {
        title: t('Delete table "{title}"?', { title }),
        text: t('Its records and views go with it, and:'),
        confirmLabel: t('Delete table'),
      },
    )
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return false
  }
}

/** Takes a table out of the trash, and opens it where it was open before. */
export async function restoreTable(table: Table, open = false): Promise<void> {
  try {
    await api.schema.restoreTable.mutate({ tableId: table.id })
    await cache.schema.tables.invalidate()
    void cache.schema.table.invalidate({ tableId: table.id })
    if (open) goTo(paths.table(table.baseId, table.id))
    toast.success({ text: t('Table "{title}" is back', { title: table.title }) })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}

/** Adds a grid view with a free name and opens it. */
export async function createView(baseId: string, tableId: string): Promise<void> {
  await changeViews(tableId, async () => {
    const { views } = await cache.schema.table.fetch({ tableId })
    const title = unusedTitle(
      t('Grid'),
      views.map((view) => view.title),
    )
    const view = await api.views.create.mutate({ tableId, title, kind: 'grid' })
    goTo(paths.table(baseId, tableId, view.id))
  })
}

/** Copies a view under a free name and opens the copy. */
export async function duplicateView(baseId: string, view: View): Promise<void> {
  await changeViews(view.tableId, async () => {
    const copy = await api.views.duplicate.mutate({ viewId: view.id })
    goTo(paths.table(baseId, view.tableId, copy.id))
  })
}

/**
 * Gives a view another title.
 *
 * @throws what the server refused with
 */
export async function renameView(view: View, title: string): Promise<void> {
  await api.views.update.mutate({ viewId: view.id, patch: { title } })
  await cache.schema.table.invalidate({ tableId: view.tableId })
}

/** Puts a view ahead of another of its table; null: to the end. */
export async function reorderView(view: View, before: string | null): Promise<void> {
  const input = { tableId: view.tableId }
  cache.schema.table.setData(
    input,
    (schema) => schema && { ...schema, views: moveBefore(schema.views, view.id, before) },
  )
  await changeViews(view.tableId, () => api.views.reorder.mutate({ viewId: view.id, before }))
}

/** Deletes a view after asking: there is no trash for views. The records stay. */
export async function deleteView(baseId: string, view: View): Promise<void> {
  const agreed = await confirm({
    title: t('Delete view "{title}"?', { title: view.title }),
    text: t('Its filter, sorting and column settings go with it. The records stay. This cannot be undone.'),
    confirmLabel: t('Delete view'),
    danger: true,
  })
  if (!agreed) return
  if (currentPath().includes(`/${view.id}`)) goTo(paths.table(baseId, view.tableId))
  await changeViews(view.tableId, () => api.views.delete.mutate({ viewId: view.id }))
}

async function changeViews(tableId: string, change: () => Promise<unknown>): Promise<void> {
  try {
    await change()
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
  await cache.schema.table.invalidate({ tableId })
}
