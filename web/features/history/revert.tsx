import type { Action } from '../../../src/core/actions.ts'
import { actionText } from '../../../src/core/actions.ts'
import type { Person } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { listNames } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { runInQueue } from '../../records/base-queue.ts'
import { timeZone } from '../../time-zone.ts'
import { api, cache, type Outputs } from '../../trpc.ts'
import { confirm } from '../../ui/confirm.tsx'
import { toast } from '../../ui/toast.ts'
import { UNDO_TOPIC, undoChosen } from '../records/undo/undo-commands.tsx'
import styles from './history.module.css'

type Preview = Outputs['records']['previewRevert']

/** Values that stay, as the dialog names them one by one. */
const NAMED = 10

/** Reverts an action, after a preview if it is far-reaching or something of it stays. True if done. */
export async function revert(baseId: string, action: Action): Promise<boolean> {
  try {
    const preview = await api.records.previewRevert.query({ baseId, entryId: action.id, timeZone })
    const isLight = action.confirm === null || action.confirm === 'elsewhere'
    if ((!isLight || preview.kept.total > 0) && !(await confirmed(action, preview))) return false
    const undone = await runInQueue(baseId, () => api.records.revert.mutate({ baseId, entryId: action.id }))
    if (!undone.applied) await cache.schema.invalidate()
    const what = m.records_undone_what({ what: actionText(action) })
    toast.success({
      text: undone.skipped > 0 ? `${what}. ${keptText(preview, undone.skipped)}` : what,
      topic: UNDO_TOPIC,
      action: {
        label: m.common_redo(),
        run: async () => void (await undoChosen({ baseId }, 'redo', action)),
      },
    })
    return true
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return false
  }
}

function confirmed(action: Action, preview: Preview): Promise<boolean> {
  const { added, changed, deleted, kept, people } = preview
  const byId = new Map(people.map((person) => [person.id, person]))
  const effects = [
    added > 0 ? m.history_revert_adds({ count: added }) : null,
    changed > 0 ? m.history_revert_changes({ count: changed }) : null,
    deleted > 0 ? m.history_revert_deletes({ count: deleted }) : null,
  ].filter((text) => text !== null)
  return confirm({
    title: m.records_undo_quoted_confirm({ what: actionText(action) }),
    confirmLabel: m.common_undo(),
    danger: action.kind.endsWith('.create'),
    text: (
      <div className={styles.preview} data-testid="revert-preview">
        {effects.length > 0 ? (
          <ul>
            {effects.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        ) : (
          <p>{m.records_everything_restored_previous_state()}</p>
        )}
        {kept.total > 0 && (
          <>
            <p>{keptText(preview, kept.total)}</p>
            <ul className={styles.kept}>
              {kept.items.slice(0, NAMED).map((item) => (
                <li key={`${item.tableId} ${item.recordId} ${item.fieldTitle}`} dir="auto">
                  {keptItemText(item, nameOf(byId.get(item.actorId ?? '')))}
                </li>
              ))}
            </ul>
            {kept.total > NAMED && <p>{m.history_and_more({ count: kept.total - NAMED })}</p>}
          </>
        )}
      </div>
    ),
  })
}

/** `3 values stay as they are: Ann changed them since`. */
function keptText({ kept, people }: Preview, count: number): string {
  const byId = new Map(people.map((person) => [person.id, person]))
  const names = kept.by.map(({ actorId }) => nameOf(byId.get(actorId ?? '')))
  if (names.length === 0) return m.records_values_kept_because_someone_changed({ count })
  const list = listNames(names)
  return kept.isPartial
    ? m.history_kept_by_and_others({ count, people: list })
    : m.history_kept_by({ count, people: list })
}

function keptItemText(item: Preview['kept']['items'][number], person: string): string {
  const record = item.recordTitle || m.common_record_id({ id: String(item.recordId) })
  if (item.isDeleted) return m.history_kept_deleted({ record, person })
  if (item.fieldTitle === null) return m.history_kept_record({ record, person })
  return m.history_kept_value({ field: item.fieldTitle, record, person })
}

/** A person's name; visitors of public links have none. */
export const nameOf = (person: Person | undefined): string =>
  person ? person.displayName || person.email : m.history_someone()
