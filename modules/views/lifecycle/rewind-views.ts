import type { ViewField } from '../../../src/core/model.ts'
import type { HideableRole } from '../../../src/core/roles.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { FINAL } from '../../../src/db/change-log/entry.ts'
import {
  type DefinitionLog,
  existedAt,
  isOfExistence,
  type KnownEntry,
  knownEntries,
  makesAppear,
  type NotRewound,
  numbered,
  type RenamedChoices,
  type RewoundSchema,
  type Step,
  stateAt,
  stepOf,
} from '../../schema/index.ts'
import type { ArrangeDetail } from '../fields/index.ts'
import { createViewFieldId, type ViewFieldRow, type ViewRow, type ViewState } from '../model/index.ts'
import {
  formWithRenamedChoices,
  stateOf,
  type VisibilityChange,
  withRenamedChoices,
} from '../settings/index.ts'
import type { ViewRows } from './copied-rows.ts'
import type { StoredView } from './create-and-delete.ts'
import { restoredFields, restoredState } from './undo.ts'

/** A view at a moment of the log, from which its changes are followed. */
interface Snapshot extends StoredView {
  /** The entry right before which it was like that; null: it is like that now. */
  before: number | null
}

/**
 * The views of a base as they were at a moment of the log.
 *
 * @param rows the views of its tables, those in the trash included
 * @param schema the tables and fields of the moment
 */
export function rewindViews(
  rows: ViewRows,
  schema: Pick<RewoundSchema, 'tables' | 'fields' | 'renamed'>,
  log: DefinitionLog,
): ViewRows & { left: NotRewound[] } {
  const tables = new Map(schema.tables.map(({ id, title }) => [id, title]))
  const fields = new Set(schema.fields.map(({ id }) => id))
  const found: ViewRows & { left: NotRewound[] } = { views: [], lines: [], left: [] }
  const ofViews = knownEntries(log).filter(({ action }) => action.kind.startsWith('view.'))
  const byView = Map.groupBy(ofViews, viewIdOf)
  const visibility = ofViews.filter(({ action }) => action.kind === 'view.visibility')
  const now = new Map(rows.views.map((view) => [view.id, view]))
  const lines = Map.groupBy(rows.lines, ({ viewId }) => viewId)
  for (const id of new Set([...now.keys(), ...byView.keys()])) {
    const changes = byView.get(id) ?? []
    const row = now.get(id)
    const isThere = existedAt(changes, log.after) ?? row !== undefined
    if (!isThere || (row && row.createdAt > log.at)) continue
    const gone = changes.find(
      ({ id: entryId, direction, action }) =>
        entryId > log.after && isOfExistence(action.kind) && !makesAppear(action.kind, direction),
    )
    const snapshot = gone
      ? storedBefore(changes, gone)
      : row && { row, lines: lines.get(id) ?? [], before: null }
    const table = snapshot && tables.get(snapshot.row.tableId)
    if (!snapshot || table === undefined) continue
    if (gone?.action.kind === 'view.delete' && gone.action.undoneBy === FINAL) {
      found.left.push({ kind: 'view', title: `${table}.${snapshot.row.title}`, reason: 'purged' })
      continue
    }
    const renamed = schema.renamed.filter(({ tableId }) => tableId === snapshot.row.tableId)
    const view = viewAt(snapshot, changes, visibility, renamed, log.after)
    found.views.push(view.row)
    found.lines.push(...view.lines.filter(({ fieldId }) => fields.has(fieldId)))
  }
  const ordered = [...Map.groupBy(found.views, ({ tableId }) => tableId).values()].flatMap(numbered)
  return { ...found, views: ordered }
}

function viewIdOf({ action }: Pick<KnownEntry, 'action'>): string {
  const { viewId } = (action.detail ?? {}) as { viewId?: string }
  return viewId ?? ''
}

const storedIn = ({ action }: KnownEntry): StoredView | undefined =>
  (action.detail as { stored?: StoredView } | null)?.stored

/** A view right before it disappeared: as the log has stored it then, or the last time before. */
function storedBefore(changes: readonly KnownEntry[], gone: KnownEntry): Snapshot | undefined {
  const own = storedIn(gone)
  if (gone.direction === 'do' && own) return { ...own, before: gone.id }
  // An undo or redo stores nothing: what it removed is what an earlier entry had stored, with the changes since.
  const at = changes.findLastIndex(
    (change) => change.id < gone.id && change.direction === 'do' && storedIn(change),
  )
  const earlier = changes[at]
  const stored = earlier && storedIn(earlier)
  if (!stored) return undefined
  const between = changes.filter(({ id }) => id > earlier.id && id < gone.id)
  const row = between
    .flatMap((change) => stateStep(change, stored.row))
    .reduce((state, step) => step.known?.after ?? step.forward(state), stateOf(stored.row))
  const lines = between.reduce((state, change) => arranged(change, state, 'forward'), stored.lines)
  return { row: { ...stored.row, ...row }, lines, before: gone.id }
}

function viewAt(
  { row, lines, before }: Snapshot,
  changes: readonly KnownEntry[],
  visibility: readonly KnownEntry[],
  renamed: readonly RenamedChoices[],
  after: number,
): StoredView {
  const isBefore = ({ id }: { id: number }) => before === null || id < before
  const own = changes.filter(isBefore)
  const steps = [
    ...own.flatMap((change) => stateStep(change, row)),
    ...renamed.filter(isBefore).map((each) => renamingStep(each, row)),
  ].toSorted((a, b) => a.id - b.id)
  const later = [
    ...own.map((change) => ({
      id: change.id,
      takeBack: (state: ViewFieldRow[]) => arranged(change, state, 'backward'),
    })),
    ...(collectsAnswers(row) ? renamed.filter(isBefore) : []).map(({ id, fieldId, backward }) => ({
      id,
      takeBack: (state: ViewFieldRow[]) =>
        state.map((line) => ({ ...line, form: formWithRenamedChoices(line, fieldId, backward) })),
    })),
  ]
    .filter(({ id }) => id > after)
    .toSorted((a, b) => b.id - a.id)
  const rolesSteps = visibility.filter(isBefore).flatMap((change) => rolesStep(change, row.id))
  return {
    row: {
      ...row,
      ...stateAt(steps, after, stateOf(row)),
      hiddenFrom: stateAt<HideableRole[] | null>(rolesSteps, after, row.hiddenFrom),
    },
    lines: later.reduce((state, { takeBack }) => takeBack(state), lines),
  }
}

function stateStep({ id, direction, action }: KnownEntry, row: ViewRow): Step<ViewState>[] {
  if (action.kind !== 'view.update') return []
  const detail = action.detail as { before: ViewState; after: ViewState }
  const restore = (state: ViewState, from: ViewState, to: ViewState) =>
    restoredState({ ...row, ...state }, from, to)
  return [stepOf(id, direction, detail, restore)]
}

function renamingStep({ id, fieldId, forward, backward }: RenamedChoices, row: ViewRow): Step<ViewState> {
  const { kind } = row
  return {
    id,
    forward: (state) => ({ ...state, ...withRenamedChoices({ ...state, kind }, fieldId, forward) }),
    backward: (state) => ({ ...state, ...withRenamedChoices({ ...state, kind }, fieldId, backward) }),
  }
}

function rolesStep({ id, direction, action }: KnownEntry, viewId: string): Step<HideableRole[] | null>[] {
  const { changes } = action.detail as { changes: VisibilityChange[] }
  return changes
    .filter((change) => change.viewId === viewId)
    .map((change) => stepOf(id, direction, change, (_, __, to) => to))
}

/** The fields of a view with a change of them applied, or taken back. */
function arranged(
  { direction, action }: KnownEntry,
  lines: ViewFieldRow[],
  way: 'forward' | 'backward',
): ViewFieldRow[] {
  if (action.kind !== 'view.arrange') return lines
  const { before, after, added = [] } = action.detail as ArrangeDetail
  const isReversed = (direction === 'undo') !== (way === 'backward')
  const [from, to] = isReversed ? [after, before] : [before, after]
  const current = lines.map(({ id: _1, viewId: _2, ...field }): ViewField => field)
  const next = new Map(restoredFields(current, from, to).map((field) => [field.fieldId, field]))
  const gone = new Set(from.map(({ fieldId }) => fieldId).filter((id) => !next.has(id)))
  if (direction === 'do' && way === 'backward')
    for (const fieldId of added) {
      next.delete(fieldId)
      gone.add(fieldId)
    }
  const known = new Set(lines.map(({ fieldId }) => fieldId))
  const viewId = viewIdOf({ action })
  return [
    ...lines
      .filter(({ fieldId }) => !gone.has(fieldId))
      .map((line) => ({ ...line, ...next.get(line.fieldId) })),
    ...[...next.values()]
      .filter(({ fieldId }) => !known.has(fieldId))
      .map((field) => ({ ...field, id: createViewFieldId('grid'), viewId })),
  ]
}
