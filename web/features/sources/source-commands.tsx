import { m } from '../../messages.gen.ts'
import { api, cache, type Inputs } from '../../trpc.ts'
import { attempt, showError } from '../../ui/attempt.ts'
import { confirm } from '../../ui/confirm.tsx'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import { toast } from '../../ui/toast.ts'
import { ENGINES, type Source } from './connection-draft.ts'

const SourceDialog = lazyDialog(() => import('./source-dialog.tsx'), 'SourceDialog')
const SyncDialog = lazyDialog(() => import('./sync-dialog.tsx'), 'SyncDialog')

/** Opens the dialog that connects a base to a database. */
export const connectDatabase = (baseId: string): void =>
  void openDialog((close) => <SourceDialog baseId={baseId} source={null} onClose={close} />)

/** Opens the dialog for name and connection of a source. */
export const editSource = (source: Source): void =>
  void openDialog((close) => <SourceDialog baseId={source.baseId} source={source} onClose={close} />)

/** Opens the changes of the database's structure. */
export const syncSource = (source: Source): void =>
  void openDialog((close) => <SyncDialog source={source} onClose={close} />)

/** Display name of a source. */
export const nameOf = ({ alias, isOwn, client }: Source): string =>
  alias || (isOwn ? m.sources_this_bases_own_tables() : ENGINES[client].label)

type Patch = Pick<Inputs['sources']['update'], 'isEnabled' | 'isSchemaReadonly' | 'isDataReadonly'>

/** Changes settings of a source, optimistically. */
export async function patchSource(source: Source, patch: Patch): Promise<void> {
  const { baseId, id: sourceId } = source
  const before = cache.sources.list.getData({ baseId })
  cache.sources.list.setData({ baseId }, (list) =>
    list?.map((one) => (one.id === sourceId ? { ...one, ...patch } : one)),
  )
  try {
    await api.sources.update.mutate({ baseId, sourceId, ...patch })
    await Promise.all([cache.schema.tables.invalidate({ baseId }), cache.schema.table.invalidate()])
  } catch (error) {
    cache.sources.list.setData({ baseId }, before)
    showError(error)
  }
}

/** Disconnects a source after confirmation. */
export async function removeSource(source: Source): Promise<void> {
  const { baseId, id: sourceId } = source
  const isSure = await confirm({
    title: m.sources_remove_data_source_confirm({ name: nameOf(source) }),
    text: m.sources_remove_source_consequences(),
    confirmLabel: m.common_remove(),
    danger: true,
  })
  if (!isSure) return
  await attempt(async () => {
    await api.sources.delete.mutate({ baseId, sourceId })
    cache.sources.list.setData({ baseId }, (list) => list?.filter(({ id }) => id !== sourceId))
    await cache.schema.tables.invalidate({ baseId })
    toast.success({ text: m.sources_data_source_removed() })
  })
}
