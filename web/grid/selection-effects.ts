import { shownType } from '../../src/core/fields/field.ts'
import type { Field } from '../../src/core/model.ts'
import { cellElement } from './actions.ts'
import type { SelectionStatus } from './contract.ts'
import type { Engine } from './engine.ts'
import { allBounds, contains, countCells, isSingleCell } from './selection.ts'

/** Debounce before sums are computed. */
const STATUS_DELAY_MS = 60

/**
 * Side effects of selection changes: `aria-selected` on the mounted cells, the receiver's
 * `aria-activedescendant` (only the active cell has an id), and the owner's callbacks. Attributes are set on
 * the elements directly, because rendering all cells would be slow.
 */
export function watchSelection(engine: Engine, gridId: string): () => void {
  let marked: Element[] = []
  let pointed: Element | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame = 0

  const mark = () => {
    frame = 0
    const { element } = engine.viewport
    if (!element) return
    for (const cell of marked) cell.setAttribute('aria-selected', 'false')
    marked = selectedElements(engine, element)
    for (const cell of marked) cell.setAttribute('aria-selected', 'true')
    const active = engine.active
    const fieldId = active && engine.columns[active.column]?.fieldId
    pointed?.removeAttribute('id')
    pointed = active && fieldId ? cellElement(engine, active.row, fieldId) : null
    // aria-activedescendant must not point at an element that is not in the document.
    if (!pointed) return engine.receiver?.removeAttribute('aria-activedescendant')
    pointed.id = `${gridId}-active`
    engine.receiver?.setAttribute('aria-activedescendant', pointed.id)
  }
  const markSoon = () => {
    if (frame === 0) frame = requestAnimationFrame(mark)
  }
  const reportStatusSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(() => engine.props.onSelectionStatus?.(selectionStatus(engine)), STATUS_DELAY_MS)
  }
  const onSelection = () => {
    markSoon()
    reportActiveCell(engine)
    reportStatusSoon()
  }
  const onValues = () => {
    engine.followed.complete()
    if (engine.selection.get()) reportStatusSoon()
  }
  const stops = [
    engine.selection.subscribe(onSelection),
    engine.session.subscribe(() => engine.props.onEditingChange?.(engine.session.get() !== null)),
    engine.viewport.mounted.subscribe(markSoon),
    engine.props.source.subscribeValues(onValues),
  ]
  // Selected before input was handled.
  if (engine.selection.get()) onSelection()
  return () => {
    for (const stop of stops) stop()
    clearTimeout(timer)
    cancelAnimationFrame(frame)
  }
}

function reportActiveCell(engine: Engine): void {
  const active = engine.active
  const fieldId = active && engine.columns[active.column]?.fieldId
  engine.props.onActiveCellChange?.(
    active && fieldId ? { rowIndex: active.row, recordId: engine.followed.activeId, fieldId } : null,
  )
}

function selectedElements(engine: Engine, root: HTMLElement): Element[] {
  const selection = engine.selection.get()
  if (!selection) return []
  const bounds = allBounds(selection, engine.size)
  return [...root.querySelectorAll<HTMLElement>('[role="gridcell"][data-row]')].filter(({ dataset }) => {
    const cell = { row: Number(dataset.row), column: Number(dataset.column) }
    return bounds.some((each) => contains(each, cell))
  })
}

/** Maximum rows summed; more would slow down selecting. */
const MAX_ROWS = 20_000

/** Count, sum and average of the selected cells in memory; null for a single cell or no selection. */
function selectionStatus(engine: Engine): SelectionStatus | null {
  const selection = engine.selection.get()
  if (!selection || isSingleCell(selection)) return null
  const bounds = allBounds(selection, engine.size)
  // Excludes rows in collapsed groups, which are not copied or cleared either.
  const shown = bounds.flatMap((each, at) =>
    engine
      .runsOf(selection.ranges[at]!.kind, each.top, each.bottom)
      .map(({ first, last }) => ({ ...each, top: first, bottom: last })),
  )
  const status = { cells: countCells(shown), rows: 0, numbers: 0, sum: 0, decimals: 2, complete: true }
  // What the additions have rounded off, which the last decimals would show (Neumaier's summation).
  let rest = 0
  for (const { top, bottom, start, end } of shown) {
    status.rows += bottom - top + 1
    const fields = engine.columns
      .slice(start, end + 1)
      .filter(({ shown }) => !shown.isList && shown.type.isAmount)
    if (fields.length === 0) continue
    status.decimals = Math.max(status.decimals, ...fields.map(({ field }) => decimalsOf(field)))
    const last = Math.min(bottom, top + MAX_ROWS - 1)
    if (last < bottom) status.complete = false
    for (let index = top; index <= last; index++) {
      const row = engine.rowAt(index)
      if (!row) status.complete = false
      for (const { fieldId } of row ? fields : []) {
        const value = row?.values(fieldId)
        if (typeof value !== 'number') continue
        status.numbers++
        const sum = status.sum + value
        rest += Math.abs(status.sum) >= Math.abs(value) ? status.sum - sum + value : value - sum + status.sum
        status.sum = sum
      }
    }
  }
  const sum = status.sum + rest
  return { ...status, sum, average: status.numbers > 0 ? sum / status.numbers : null }
}

/** Decimals that the cells of a field of numbers show; infinite for all that they have. */
function decimalsOf(field: Field): number {
  const { precision = 0 } = shownType(field).options
  return typeof precision === 'number' ? precision : Number.POSITIVE_INFINITY
}
