import { t, tn } from '../../i18n.ts'
import { cache } from '../../trpc.ts'
import { toast } from '../../ui/toast.ts'
import type { RecordStore } from './record-store.ts'
import type { Undone } from './store/types.ts'

/** Messages of undo and redo stand in one place, and take that of an offer to undo. */
export const UNDO_TOPIC = 'undo'

/** Takes back the person's last action in the base, and says which it was. */
export async function undo(store: Pick<RecordStore, 'undo'>): Promise<void> {
  const undone = await store.undo()
  if (!undone) return
  if (undone.kind === null) toast.success({ text: nothingLeft(undone.historySince), topic: UNDO_TOPIC })
  else tell(undone, t('Undone: {what}', { what: describe(undone) }))
}

/** Does again what was undone last. */
export async function redo(store: Pick<RecordStore, 'redo'>): Promise<void> {
  const redone = await store.redo()
  if (!redone) return
  if (redone.kind === null) toast.success({ text: t('There is nothing to redo'), topic: UNDO_TOPIC })
  else tell(redone, t('Done again: {what}', { what: describe(redone) }))
}

/** Says so where the rest is no longer kept, so that nobody looks for it. */
function nothingLeft(historySince: string | null | undefined): string {
  if (!historySince) return t('There is nothing to undo')
  const day = new Date(historySince).toLocaleDateString(document.documentElement.lang)
  return t('There is nothing left to undo: changes before {day} are no longer kept', { day })
}

function tell(undone: Undone, text: string): void {
  // Fields, views and tables are not records: what the browser holds of them is out of date.
  if (undone.applied === null) void cache.schema.invalidate()
  const { skipped } = undone
  const left = tn(
    '1 value was left as someone changed it since',
    '{n} values were left as someone changed them since',
    skipped,
  )
  toast.success({ text: skipped > 0 ? `${text}. ${left}` : text, topic: UNDO_TOPIC })
}

function describe({ kind, records }: Undone): string {
  switch (kind) {
    case 'records.insert':
      return tn('1 new record', '{n} new records', records)
    case 'records.delete':
      return tn('deleting 1 record', 'deleting {n} records', records)
    case 'records.move':
      return tn('moving 1 record', 'moving {n} records', records)
    case 'records.import':
      return tn('importing 1 record', 'importing {n} records', records)
    default:
      break
  }
  if (kind?.startsWith('records.')) return tn('editing 1 record', 'editing {n} records', records)
  if (kind?.startsWith('field.')) return t('a change of the fields')
  if (kind?.startsWith('table.')) return t('a change of the table')
  if (kind?.startsWith('source.')) return t('the synchronisation with a database')
  return t('a change of the view')
}
