import type { Action } from '../../../../src/core/actions.ts'
import { actionText } from '../../../../src/core/actions.ts'
import type { AppliedChange } from '../../../../src/core/changes.ts'
import { detailsOf, messageOf } from '../../../errors.ts'
import { formatAgo, localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { runInQueue } from '../../../records/base-queue.ts'
import type { Undone } from '../../../records/types.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { timeZone } from '../../../time-zone.ts'
import { api, cache } from '../../../trpc.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { toast } from '../../../ui/toast.ts'
import type { TableContext } from '../context/table-context.ts'

/** Topic of undo and redo messages, which replace an offer to undo. */
export const UNDO_TOPIC = 'undo'

/** The screen to which undo by keyboard is limited. */
export interface UndoPlace {
  baseId: string
  tableId?: string
  viewId?: string
  /** Scrolls to the written records. */
  take?: (applied: AppliedChange) => void
}

type Direction = 'undo' | 'redo'

/** The table and view of a table's screen. */
export const placeOf = ({ schema, state, store }: TableContext): UndoPlace => ({
  baseId: schema.table.baseId,
  tableId: schema.table.id,
  viewId: state.view.id,
  take: store.applyStored,
})

/** Undoes the user's last action. An action outside the current screen is described and confirmed first. */
export const undo = (place: UndoPlace): Promise<void> => stepBack(place, 'undo')

/** Redoes the last undone action of the current scope. */
export const redo = (place: UndoPlace): Promise<void> => stepBack(place, 'redo')

async function stepBack(place: UndoPlace, direction: Direction): Promise<void> {
  try {
    const { action, undone } = await nextStep(place, direction)
    if (!action) return await tellNothing(place, direction)
    if (undone) return tell(place, direction, action, undone)
    if (await confirmUndo(action, direction)) await runNamed(place, direction, action)
  } catch (error) {
    // After rejecting an undo twice, the server skips that action.
    if (detailsOf(error).passedOver === true) return stepBack(place, direction)
    toast.error({ text: messageOf(error) })
  }
}

/**
 * Requests the next action and undoes it by its id, unless it needs confirmation. Both are one entry of the base's send
 * queue, so that two key presses undo two actions, and a retry after a lost response names the same action.
 */
async function nextStep(
  { baseId, tableId, viewId }: UndoPlace,
  direction: Direction,
): Promise<{ action: Action | null; undone: Undone | null }> {
  let action: Action | null | undefined
  return runInQueue(baseId, async () => {
    action ??= await api.records.nextAction.query({ baseId, direction, tableId, viewId, timeZone })
    if (action === null || action.confirm !== null) return { action, undone: null }
    return { action, undone: await api.records[direction].mutate({ baseId, entryId: action.id }) }
  })
}

async function runNamed(place: UndoPlace, direction: Direction, action: Action): Promise<void> {
  const { baseId } = place
  const undone = await runInQueue(baseId, () => api.records[direction].mutate({ baseId, entryId: action.id }))
  tell(place, direction, action, undone)
}

/**
 * Undoes or redoes an action chosen from the history, after a confirmation if it has far-reaching effects. True if done.
 */
export async function undoChosen(place: UndoPlace, direction: Direction, action: Action): Promise<boolean> {
  // The history names the table, so no confirmation is needed for other tables.
  const isHeavy = action.confirm !== null && action.confirm !== 'elsewhere'
  if (isHeavy && !(await confirmUndo(action, direction))) return false
  try {
    await runNamed(place, direction, action)
    return true
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return false
  }
}

/** Describes an action and the effect of undoing it; true if the user confirms. */
function confirmUndo(action: Action, direction: Direction): Promise<boolean> {
  const isRedo = direction === 'redo'
  return confirm({
    title: undoQuestion(action, isRedo),
    text: (
      <>
        <p data-testid="undo-place">
          {action.tableTitle === null
            ? m.records_done_when({ when: formatAgo(action.at) })
            : m.records_done_when_in_table_table({
                when: formatAgo(action.at),
                table: action.tableTitle,
              })}
        </p>
        {!isRedo && <p>{effectOf(action)}</p>}
      </>
    ),
    confirmLabel: isRedo ? m.common_redo() : m.common_undo(),
    danger: !isRedo && action.kind.endsWith('.create'),
  })
}

/** Describes the effect of undoing an action, in one sentence. */
function effectOf({ kind, label, records, viewTitle, confirm: reason }: Action): string {
  if (label.key === 'import_update') return m.records_undo_of_an_update_by_import()
  switch (kind) {
    case 'table.create':
      return m.records_table_moves_trash_records_views()
    case 'table.delete':
      return m.records_table_restored_records_views()
    case 'field.create':
      return m.records_field_moves_trash_values()
    case 'field.delete':
      return m.records_field_restored_values()
    case 'view.create':
      return m.records_view_deleted_records_stay()
    case 'view.delete':
      return m.records_the_view_is_restored()
    case 'records.insert':
    case 'records.import':
    case 'records.restore':
      return m.records_records_move_to_the_trash({ count: records })
    case 'records.delete':
      return m.records_records_are_restored({ count: records })
    default:
      break
  }
  if (kind.startsWith('records.') && reason === 'many') return m.records_records_change({ count: records })
  if (reason === 'elsewhere')
    return viewTitle === null
      ? m.records_changes_table_not_screen()
      : m.records_changes_view_view_not_screen({ view: viewTitle })
  return m.records_everything_restored_previous_state()
}

async function tellNothing({ baseId, tableId }: UndoPlace, direction: Direction): Promise<void> {
  if (direction === 'redo') {
    toast.success({ text: m.records_there_is_nothing_to_redo(), topic: UNDO_TOPIC })
    return
  }
  const { historySince } = await api.records.actions.query({ baseId, limit: 1 })
  const text =
    historySince !== null
      ? m.records_nothing_left_undo_changes_before({
          day: new Date(historySince).toLocaleDateString(localeTag()),
        })
      : tableId === undefined
        ? m.records_there_is_nothing_to_undo()
        : m.records_nothing_undo_table()
  toast.success({
    text,
    topic: UNDO_TOPIC,
    action: { label: m.common_history(), run: () => goTo(paths.history(baseId)) },
  })
}

function tell(place: UndoPlace, direction: Direction, action: Action, undone: Undone): void {
  const { applied, skipped } = undone
  if (applied) place.take?.(applied)
  // Fields, views and tables in the browser's cache are outdated.
  else void cache.schema.invalidate()
  void cache.activity.list.invalidate()
  const what = actionText(action)
  const text = direction === 'undo' ? m.records_undone_what({ what }) : m.records_redone_what({ what })
  const left = m.records_values_kept_because_someone_changed({ count: skipped })
  toast.success({ text: skipped > 0 ? `${text}. ${left}` : text, topic: UNDO_TOPIC })
}

/**
 * A message that offers to undo a particular change, even after later ones. Visitors of a shared base, who cannot undo,
 * see it without the offer.
 */
export function offerUndo(
  place: UndoPlace,
  text: string,
  entryId: number,
  onUndone?: () => void | Promise<void>,
): void {
  const { baseId } = place
  if (isVisitorPage) {
    toast.success({ text, topic: UNDO_TOPIC })
    return
  }
  toast.success({
    text,
    topic: UNDO_TOPIC,
    action: {
      label: m.common_undo(),
      async run() {
        try {
          const undone = await runInQueue(baseId, () => api.records.undo.mutate({ baseId, entryId }))
          if (undone.applied) place.take?.(undone.applied)
          else await cache.schema.invalidate()
          void cache.activity.list.invalidate()
          await onUndone?.()
          toast.success({ text: m.records_undone_what({ what: text }), topic: UNDO_TOPIC })
        } catch (error) {
          toast.error({ text: messageOf(error) })
        }
      },
    },
  })
}

/**
 * Like `offerUndo`, for changes of fields and views, whose responses do not name their action. No offer if the user's
 * latest action in the table is of another kind.
 */
export async function offerUndoOfLatest(
  place: UndoPlace,
  kind: string,
  text: string,
  onUndone?: () => void | Promise<void>,
): Promise<void> {
  const { baseId, tableId } = place
  const action = await runInQueue(baseId, () =>
    api.records.nextAction.query({ baseId, direction: 'undo', tableId, timeZone }),
  ).catch(() => null)
  if (action?.kind === kind) offerUndo(place, text, action.id, onUndone)
  else toast.success({ text, topic: UNDO_TOPIC })
}

/** Title of the confirmation: `Undo import of 12,000 records into weather?` */
function undoQuestion(action: Action, isRedo: boolean): string {
  const { key, params } = action.label
  if (key === 'import' && action.further === 0) {
    const imported = { count: Number(params.count), table: String(params.table) }
    return isRedo ? m.records_redo_import_confirm(imported) : m.records_undo_import_confirm(imported)
  }
  const what = actionText(action)
  return isRedo ? m.records_redo_quoted_confirm({ what }) : m.records_undo_quoted_confirm({ what })
}
