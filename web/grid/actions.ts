import { isEmptyList } from '../cells/link-value.ts'
import { cancelCopy, pasteAsTextNext } from './clipboard-actions.ts'
import type { Engine } from './engine.ts'
import { fillFromEdge } from './fill-actions.ts'
import type { Intent } from './keys.ts'
import {
  activeCell,
  type CellPosition,
  clampCell,
  extendTo,
  focusCell,
  isSingleCell,
  type Selection,
  type Step,
  selectAll,
  selectCell,
  step,
  tabFrom,
  widen,
} from './selection.ts'
import { startEditing } from './states/editing.ts'

/** Runs the action of a key. False if it is unused; the event then continues to the app or browser. */
export function perform(engine: Engine, intent: Intent, event: KeyboardEvent): boolean {
  const selection = engine.selection.get()
  if (!selection) return beginAtFirstCell(engine, intent)
  if (TRIED_BY_CELL.has(intent.kind) && cellUsesKey(engine, intent, event)) return true
  const { commands } = engine
  const active = activeCell(selection)
  switch (intent.kind) {
    case 'move': {
      const next = step(selection, intent.step, engine.size, {
        extend: intent.extend,
        pageRows: engine.viewport.pageRows,
        isFilled: (cell) => isFilled(engine, cell),
      })
      const shown = onShownRows(engine, selection, next, intent.extend)
      engine.select(shown, focusCell(shown))
      const isAtStart = intent.step === 'edgeStart' && focusCell(next).column === 0
      if (isAtStart || TO_ROW_START.has(intent.step)) engine.viewport.scrollTo({ inline: 0 })
      return true
    }
    case 'tab': {
      const next = tabFrom(active, intent.back, engine.size)
      // At the grid's corners Tab leaves it: the grid is one tab stop.
      if (next === active && isSingleCell(selection)) return false
      engine.moveAfter(intent.back ? 'previous' : 'next', active)
      return true
    }
    case 'enter':
      if (intent.back) engine.moveAfter('up', active)
      else edit(engine)
      return true
    case 'edit':
      edit(engine)
      return true
    case 'type':
      return edit(engine, intent.text)
    case 'escape':
      if (cancelCopy()) return true
      if (isSingleCell(selection)) return false
      engine.selection.set(selectCell(active))
      return true
    case 'expand':
      commands.expandRow(active.row, engine.columns[active.column]?.fieldId ?? null)
      return true
    case 'selectRow':
      engine.selection.set(widen(selection, 'rows'))
      return true
    case 'selectColumn':
      engine.selection.set(widen(selection, 'columns'))
      return true
    case 'selectAll':
      engine.selection.set(selectAll(active))
      return true
    case 'clear':
      return engine.clear()
    case 'undo':
      commands.undo()
      return true
    case 'redo':
      commands.redo()
      return true
    case 'fillDown':
      fillFromEdge(engine, 'down')
      return true
    case 'fillEnd':
      fillFromEdge(engine, 'end')
      return true
    case 'addRow':
      return engine.addRow()
    case 'openLink':
      return openLink(engine)
    case 'contextMenu':
      return openMenuAtActive(engine)
    case 'pasteAsText':
      // The browser's paste event follows this key and reads the flag.
      pasteAsTextNext()
      return false
    default:
      return false
  }
}

/** Extends a step that ends in a collapsed group to the next visible row. */
function onShownRows(engine: Engine, before: Selection, next: Selection, extend: boolean): Selection {
  const cell = focusCell(next)
  const from = extend ? focusCell(before) : activeCell(before)
  const row = engine.shownRow(cell.row, from.row)
  if (row === cell.row) return next
  return extend ? extendTo(next, { ...cell, row }) : selectCell({ ...cell, row })
}

/** True if a cell is filled; as in spreadsheets, false counts as a value. */
function isFilled(engine: Engine, { row, column }: CellPosition): boolean | undefined {
  const record = engine.rowAt(row)
  const target = engine.columns[column]
  if (!record || !target) return undefined
  return !isEmptyList(record.values(target.fieldId))
}

/** Steps that scroll to the first columns, even if a frozen column is already in sight. */
const TO_ROW_START: ReadonlySet<Step> = new Set(['rowStart', 'gridStart'])

/** Intents that the cell's own key handling precedes: stars, check boxes, today. */
const TRIED_BY_CELL: ReadonlySet<Intent['kind']> = new Set([
  'type',
  'expand',
  'enter',
  'insertToday',
  'insertNow',
])

function cellUsesKey(engine: Engine, { kind }: Intent, event: KeyboardEvent): boolean {
  const active = engine.active
  const column = active && engine.columns[active.column]
  const record = active && engine.rowAt(active.row)
  if (!column?.cell.onKey || !record || !engine.canEdit(active.column)) return false
  const key = {
    // By intent, since the layout may type another character at the semicolon's position, and Shift does.
    key: kind === 'insertToday' || kind === 'insertNow' ? ';' : event.key,
    ctrl: event.ctrlKey || event.metaKey,
    shift: event.shiftKey,
    alt: event.altKey,
  }
  return column.cell.onKey(key, {
    value: record.values(column.fieldId),
    options: column.options,
    commit: (value) => engine.setCell(active.row, column.fieldId, value),
  })
}

function beginAtFirstCell(engine: Engine, intent: Intent): boolean {
  if (engine.size.rows === 0 || engine.size.columns === 0) return false
  if (intent.kind === 'undo' || intent.kind === 'redo') {
    engine.commands[intent.kind]()
    return true
  }
  if (intent.kind !== 'move' && intent.kind !== 'enter' && intent.kind !== 'selectAll') return false
  // If the last selected record left the view, keys continue from its position.
  const first = clampCell(engine.followed.lastActive ?? { row: 0, column: 0 }, engine.size)
  engine.select(intent.kind === 'selectAll' ? selectAll(first) : selectCell(first), first)
  return true
}

/** Opens the active cell's editor, or explains why it is read-only. */
function edit(engine: Engine, typed: string | null = null): boolean {
  const active = engine.active
  const column = active && engine.columns[active.column]
  if (!active || !column) return false
  if (startEditing(engine, active, typed)) return true
  // Opening the value is more useful than the read-only message.
  if (typed === null && column.cell.open && openLink(engine)) return false
  engine.explainReadOnly(active)
  if (typed === null && engine.rowAt(active.row) && !engine.canEdit(active.column)) openLink(engine)
  return false
}

/** Opens the active cell's link in a new tab. */
function openLink(engine: Engine): boolean {
  const active = engine.active
  const column = active && engine.columns[active.column]
  const value = active && column ? engine.rowAt(active.row)?.values(column.fieldId) : null
  const recordId = active ? (engine.rowAt(active.row)?.id ?? null) : null
  if (column?.cell.open?.(value ?? null, column.field, recordId)) return true
  const href = column?.cell.href?.(value ?? null)
  if (!href) return false
  window.open(href, '_blank', 'noopener,noreferrer')
  return true
}

export const cellElement = (engine: Engine, row: number, fieldId: string): HTMLElement | null =>
  engine.viewport.element?.querySelector(`[data-row="${row}"][data-field="${CSS.escape(fieldId)}"]`) ?? null

/** Opens the active cell's menu, or the header's menu for a selected column. */
function openMenuAtActive(engine: Engine): boolean {
  const active = engine.active
  const column = active && engine.columns[active.column]
  const { element: root } = engine.viewport
  if (!active || !column || !root) return false
  const { commands } = engine
  const kind = engine.selection.get()?.ranges.at(-1)?.kind
  if (kind === 'columns') {
    const header = root.querySelector<HTMLElement>(`[data-part="header"][data-column="${active.column}"]`)
    commands.openHeaderMenu(column.fieldId, { element: header ?? root })
    return true
  }
  engine.viewport.reveal(active)
  commands.openCellMenu({
    element: cellElement(engine, active.row, column.fieldId) ?? root,
    rowIndex: active.row,
    recordId: engine.rowAt(active.row)?.id,
    fieldId: kind === 'cells' ? column.fieldId : null,
    areas: engine.areas(),
  })
  return true
}
