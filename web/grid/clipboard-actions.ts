import type { CellValue } from '../../src/core/fields/field-type.ts'
import { withPeople } from '../../src/core/fields/traits.ts'
import { decimalMark } from '../i18n.ts'
import { m } from '../messages.gen.ts'
import { type ClipboardBlock, type ClipboardForms, readClipboard, textsOf } from './clipboard.ts'
import { clipboardForms, writeToClipboard } from './clipboard-forms.ts'
import type { ResolvedColumn } from './columns.ts'
import type { CellArea, GridRow } from './contract.ts'
import type { Engine } from './engine.ts'
import { pasteFiles, pasteImage } from './file-actions.ts'
import { MAX_CHANGED_CELLS } from './fill-actions.ts'
import { completeValues, partialCells, valuesOf } from './link-values.ts'
import { planPaste } from './paste.ts'
import { allBounds, type Bounds, lastBounds } from './selection.ts'

/** Copy limit: beyond it the browser's clipboard takes seconds, and an export is better. */
const MAX_COPIED_CELLS = 2_000_000

/** Rows and columns to copy: several ranges join if they share rows or columns. */
interface CopyShape {
  rows: { first: number; last: number }[]
  columns: ResolvedColumn[]
}

/** A loaded copy that waits for a second Ctrl+C: browsers allow clipboard writes only during an event. */
let ready: { engine: Engine; key: string; forms: ClipboardForms } | null = null
let loading: AbortController | null = null
let asText = false

/** The next paste reads the plain text alone (Ctrl+Shift+V). */
export function pasteAsTextNext(): void {
  asText = true
  // The paste event comes in the same task as the key, if at all.
  setTimeout(() => {
    asText = false
  }, 100)
}

/** Cancels a copy that is loading rows; false if none is. */
export function cancelCopy(): boolean {
  const isReading = loading !== null
  loading?.abort()
  loading = null
  return isReading
}

/** Copies the selection within a copy or cut event. */
export function copy(engine: Engine, event: ClipboardEvent, cut: boolean): void {
  const shape = copyShape(engine)
  if (!shape || !event.clipboardData) return
  event.preventDefault()
  const count = shape.rows.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  const cells = count * shape.columns.length
  const { notify } = engine.commands
  if (cells > MAX_COPIED_CELLS) {
    notify(m.grid_too_much_data_copy_export(), 'error')
    return
  }
  const key = keyOf(shape)
  const waiting = ready?.engine === engine && ready.key === key ? ready.forms : null
  const rows = waiting ? null : loadedRows(engine, shape)
  const values = rows && valuesOf(shape.columns, rows)
  if (!waiting && (!rows || !values || partialCells(shape.columns, values).length > 0)) {
    void copyLoaded(engine, shape, key, cells, cut)
    return
  }
  const forms = waiting ?? formsOf(engine, shape, values ?? [])
  for (const [type, text] of Object.entries(forms)) event.clipboardData.setData(type, text)
  ready = null
  if (cut && engine.props.rights.editRecords) engine.clear(areasOf(shape))
  report(engine, m.grid_cells_copied({ count: cells }))
}

/** Pastes over the selection within a paste event. */
export async function paste(engine: Engine, event: ClipboardEvent): Promise<void> {
  const data = event.clipboardData
  if (!data || !engine.props.rights.editRecords) return
  if (!asText && pasteFiles(engine, data)) return event.preventDefault()
  const block = readClipboard((type) => data.getData(type), asText)
  asText = false
  if (!block) return
  event.preventDefault()
  await pasteBlock(engine, block)
}

/** Plans the paste of a block over the selection and passes the plan to the owner. */
async function pasteBlock(engine: Engine, block: ClipboardBlock): Promise<void> {
  const { commands } = engine
  const { source, rights } = engine.props
  const { lines } = engine
  const bounds = pasteBounds(engine)
  if (!bounds) return
  // Pastes over visible rows only; rows in collapsed groups are skipped.
  const plan = planPaste(block, {
    bounds: { ...bounds, top: lines.placeOf(bounds.top), bottom: lines.placeOf(bounds.bottom + 1) - 1 },
    columns: engine.columns.map(({ fieldId, type, options }, at) => ({
      fieldId,
      type,
      options: withPeople(type.name, options, [...engine.people.values()]),
      editable: engine.canEdit(at),
    })),
    rowCount: source.rowCount === null ? 0 : lines.shown,
    rowOf: lines.rowOf,
    recordIdOf: (row) => engine.rowAt(row)?.id,
    canAddRows: rights.addRecords,
    decimal: decimalMark(),
  })
  if (plan.cells.length + plan.newRows.length * engine.size.columns > MAX_CHANGED_CELLS) {
    commands.notify(m.grid_too_much_data_paste_once(), 'error')
    return
  }
  const written = await commands.paste(plan)
  if (written === null) return
  const { top, start, end } = plan.covers
  const bottom = Math.min(plan.covers.bottom, Math.max(engine.size.rows - 1, top))
  const range = {
    kind: 'cells' as const,
    anchor: { row: top, column: start },
    focus: { row: bottom, column: end },
  }
  engine.selection.set({ ranges: [range] })
  engine.announce(m.grid_cells_pasted({ count: written }))
}

function pasteBounds(engine: Engine): Bounds | null {
  const selection = engine.selection.get()
  if (selection) return lastBounds(selection, engine.size)
  // An empty table has no cells to select; paste from the first one.
  return engine.size.rows === 0 ? { top: 0, bottom: 0, start: 0, end: 0 } : null
}

function copyShape(engine: Engine): CopyShape | null {
  const selection = engine.selection.get()
  if (!selection) return null
  const bounds = allBounds(selection, engine.size)
  const first = bounds[0]!
  const last = bounds.at(-1)!
  const { kind } = selection.ranges.at(-1)!
  if (bounds.every(({ top, bottom }) => top === first.top && bottom === first.bottom)) {
    const columns = engine.columns.filter((_, at) =>
      bounds.some(({ start, end }) => at >= start && at <= end),
    )
    return { rows: engine.runsOf(kind, first.top, first.bottom), columns }
  }
  const joined = bounds.every(({ start, end }) => start === first.start && end === first.end)
    ? bounds
    : [last]
  return {
    rows: joined
      .flatMap(({ top, bottom }) => engine.runsOf(kind, top, bottom))
      .sort((a, b) => a.first - b.first),
    columns: engine.columns.slice(last.start, last.end + 1),
  }
}

/** The copied cells, which a cut clears: of several ranges that form no table, only the last is copied. */
const areasOf = ({ rows, columns }: CopyShape): CellArea[] =>
  rows.map(({ first, last }) => ({
    firstRow: first,
    lastRow: last,
    fieldIds: columns.map(({ fieldId }) => fieldId),
  }))

const keyOf = ({ rows, columns }: CopyShape): string =>
  JSON.stringify([rows, columns.map(({ fieldId }) => fieldId)])

/** The rows if all of them are loaded, else null. */
function loadedRows(engine: Engine, { rows }: CopyShape): GridRow[] | null {
  const loaded: GridRow[] = []
  for (const { first, last } of rows) {
    for (let index = first; index <= last; index++) {
      const row = engine.rowAt(index)
      if (!row) return null
      loaded.push(row)
    }
  }
  return loaded
}

const formsOf = ({ people }: Engine, { columns }: CopyShape, values: CellValue[][]): ClipboardForms =>
  clipboardForms(
    columns.map(({ field }) => field),
    values,
    people,
  )

/**
 * Loads the missing rows and links, then copies. Writing outside an event may be refused; a second Ctrl+C then copies
 * the loaded cells.
 */
async function copyLoaded(
  engine: Engine,
  shape: CopyShape,
  key: string,
  cells: number,
  cut: boolean,
): Promise<void> {
  loading?.abort()
  const controller = new AbortController()
  loading = controller
  const fieldIds = shape.columns.map(({ fieldId }) => fieldId)
  report(engine, m.grid_loading_selected_records())
  try {
    const rows: GridRow[] = []
    for (const { first, last } of shape.rows) {
      rows.push(
        ...(await engine.props.source.readRange({
          first,
          last,
          fieldIds,
          signal: controller.signal,
          onProgress: (done, total) =>
            engine.announce(m.grid_percent_loaded({ percent: Math.floor((done / total) * 100) })),
        })),
      )
    }
    const values = valuesOf(shape.columns, rows)
    await completeValues(engine.commands.completeLinks, shape.columns, rows, values, controller.signal)
    const forms = formsOf(engine, shape, values)
    if (await writeToClipboard(forms)) {
      const now = copyShape(engine)
      const isSame = now !== null && keyOf(now) === key
      if (cut && isSame && engine.props.rights.editRecords) engine.clear(areasOf(shape))
      return report(engine, m.grid_cells_copied({ count: cells }))
    }
    ready = { engine, key, forms }
    report(engine, m.grid_ready_copy_press_shortcut_again())
  } catch (error) {
    if (controller.signal.aborted) {
      report(engine, m.grid_copy_cancelled())
      return
    }
    engine.commands.notify(m.grid_records_load_failed({ reason: reasonOf(error) }), 'error')
  } finally {
    if (loading === controller) loading = null
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function report(engine: Engine, message: string): void {
  engine.announce(message)
  engine.commands.notify(message, 'info')
}

/** Pastes from a menu; false if the browser denies reading the clipboard. */
export async function pasteFromMenu(engine: Engine): Promise<boolean> {
  if (!navigator.clipboard?.read) return false
  try {
    const [item] = await navigator.clipboard.read()
    if (item && (await pasteImage(engine, item))) return true
    const block = readClipboard(await textsOf(item))
    if (block) await pasteBlock(engine, block)
    return block !== null
  } catch (error) {
    if (error instanceof DOMException) return false
    throw error
  }
}
