import type { View, ViewKind } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { addressOf, currentPath, goTo, paths } from '../../../navigation/paths.ts'
import { runOnceInQueue } from '../../../records/base-queue.ts'
import { api, cache } from '../../../trpc.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { copyText } from '../../../ui/copy-text.ts'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { moveBefore } from '../../../ui/sortable.tsx'
import { toast } from '../../../ui/toast.ts'
import { offerUndoOfLatest } from '../../records/undo/undo-commands.tsx'
import { DescriptionDialog, IconDialog, renameInDialog } from '../../tables/table-commands.tsx'
import { readIcon } from '../icons/chosen-icon.tsx'

const CreateViewDialog = lazyDialog(() => import('./create-view-dialog.tsx'), 'CreateViewDialog')
const VisibilityDialog = lazyDialog(() => import('./visibility-dialog.tsx'), 'VisibilityDialog')

/** Opens the dialog for a new view; creates and opens the view. */
export const createView = (baseId: string, tableId: string, kind: ViewKind): void =>
  void openDialog((close) => (
    <CreateViewDialog baseId={baseId} tableId={tableId} kind={kind} onClose={close} />
  ))

/** Copies a view under a free name and opens the copy. */
export async function duplicateView(baseId: string, view: View): Promise<void> {
  await changeViews(view.tableId, async () => {
    const copy = await api.views.duplicate.mutate({ viewId: view.id })
    await cache.schema.table.invalidate({ tableId: view.tableId })
    goTo(paths.table(baseId, view.tableId, copy.id))
  })
}

/** Properties of a view that do not affect its records. */
type ViewFacts = Partial<Pick<View, 'title' | 'description' | 'meta' | 'lock'>>

const updateView = async (view: View, patch: ViewFacts): Promise<void> =>
  show(await api.views.update.mutate({ viewId: view.id, patch }))

/** Puts a saved view into the cache. */
async function show(saved: View): Promise<void> {
  const input = { tableId: saved.tableId }
  await cache.schema.table.cancel(input)
  cache.schema.table.setData(
    input,
    (schema) =>
      schema && { ...schema, views: schema.views.map((one) => (one.id === saved.id ? saved : one)) },
  )
  void cache.schema.table.invalidate(input)
}

/**
 * Renames a view.
 *
 * @throws the server's error
 */
export const renameView = (view: View, title: string): Promise<void> => updateView(view, { title })

/** Renames a view in a dialog, for places without inline editing. */
export const renameViewInDialog = (view: View): void =>
  renameInDialog({
    heading: m.views_rename_view(),
    emptyText: m.common_enter_a_name(),
    title: view.title,
    onRename: (title) => renameView(view, title),
  })

/** Edits a view's description. */
export const describeView = (view: View): void =>
  void openDialog((close) => (
    <DescriptionDialog
      title={view.title}
      question={m.views_describe_this_view()}
      description={view.description}
      onSave={(description) => updateView(view, { description })}
      onClose={close}
    />
  ))

/** Chooses the icon of a view. */
export const chooseViewIcon = (view: View): void =>
  void openDialog((close) => (
    <IconDialog
      title={view.title}
      current={readIcon(view.meta)}
      onChoose={(icon) => updateView(view, { meta: { ...view.meta, icon } })}
      onClose={close}
    />
  ))

/** Asks which roles see a view in their lists. */
export const chooseViewers = (view: View): void =>
  void openDialog((close) => (
    <VisibilityDialog
      title={view.title}
      hiddenFrom={view.hiddenFrom}
      onSave={async (from) => show(await api.views.hide.mutate({ viewId: view.id, from }))}
      onClose={close}
    />
  ))

/** Sets the lock mode of a view. */
export const setViewMode = (view: View, lock: View['lock']): Promise<void> =>
  changeViews(view.tableId, () => updateView(view, { lock }))

/** Copies the URL of a view for members of the base. */
export async function copyViewLink(baseId: string, view: View): Promise<void> {
  const address = addressOf(paths.table(baseId, view.tableId, view.id))
  if (await copyText(address)) toast.success({ text: m.views_link_copied() })
}

/** Moves a view before another of its table; null: to the end. */
export async function reorderView(view: View, before: string | null): Promise<void> {
  const input = { tableId: view.tableId }
  cache.schema.table.setData(
    input,
    (schema) => schema && { ...schema, views: moveBefore(schema.views, view.id, before) },
  )
  await changeViews(view.tableId, () => api.views.reorder.mutate({ viewId: view.id, before }))
}

/** Deletes a view after a confirmation and offers to undo it. Its records stay. */
export async function deleteView(baseId: string, view: View): Promise<void> {
  const { tableId } = view
  const agreed = await confirm({
    title: m.views_delete_view_confirm({ title: view.title }),
    text: m.views_delete_view_consequences(),
    confirmLabel: m.views_delete_view(),
    danger: true,
  })
  if (!agreed) return
  await changeViews(tableId, async () => {
    await runOnceInQueue(baseId, () => api.views.delete.mutate({ viewId: view.id }))
    const wasOpen = currentPath().includes(`/${view.id}`)
    if (wasOpen) goTo(paths.table(baseId, tableId))
    cache.schema.table.setData(
      { tableId },
      (schema) => schema && { ...schema, views: schema.views.filter(({ id }) => id !== view.id) },
    )
    await offerUndoOfLatest(
      { baseId, tableId },
      'view.delete',
      m.views_view_title_deleted_records_stay({ title: view.title }),
      () => {
        if (wasOpen) goTo(paths.table(baseId, tableId, view.id))
      },
    )
  })
}

async function changeViews(tableId: string, change: () => Promise<unknown>): Promise<void> {
  try {
    await change()
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
  await cache.schema.table.invalidate({ tableId })
}
