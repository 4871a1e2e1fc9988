import { createContext, useContext } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Person, RecordId } from '../../src/core/model.ts'
import type { Draft, EditorHandle, Move } from '../cells/cell.ts'
import { m } from '../messages.gen.ts'
import { Checks } from './checks.ts'
import type { ResolvedColumn } from './columns.ts'
import type { CellArea, CellWrite, GridCommands, GridProps, GridRow } from './contract.ts'
import { FollowedRecords } from './followed-records.ts'
import { layOutGroups, plainLines, type RowLines, shownRuns } from './groups/row-lines.ts'
import type { GroupNode } from './groups/tree.ts'
import { type ColumnLayout, layoutColumns, ROW_HEIGHTS, type Span } from './layout.ts'
import {
  activeCell,
  type Bounds,
  boundsOf,
  type CellPosition,
  clampCell,
  clampSelection,
  type GridSize,
  isSingleCell,
  type RangeKind,
  type Selection,
  selectCell,
  tabFrom,
} from './selection.ts'
import { createStore } from './store.ts'
import { Viewport } from './viewport.ts'

/** An open editor and its cell. */
export interface EditSession {
  row: number
  column: number
  fieldId: string
  recordId: RecordId
  /** The value at opening; if it differs on commit, another user has changed it. */
  opened: CellValue
  /** True after the open editor has stored a value, of which the server may store another form. */
  hasStored?: true
  /** The text that opened it and replaces the value; null edits the value. */
  typed: string | null
  /** Message of the last rejected commit. */
  message: string | null
}

/** Direction and target cells of a fill. */
export interface FillTarget {
  direction: 'down' | 'up' | 'end' | 'start'
  bounds: Bounds
}

/** Drawn during a drag, before the drop. */
type Preview =
  | { kind: 'fill'; target: FillTarget }
  | { kind: 'columnLine'; gap: number; moved: readonly number[]; pointerX: number }
  | { kind: 'rowLine'; gap: number; top: number; into: GroupNode | null; rows: number; pointerY: number }
  | { kind: 'freezeLine'; count: number }

/** Rows drawn as skeletons while the count is unknown. */
export const UNKNOWN_ROWS = 60

/**
 * The grid's state: selection, editing, dragging and scroll position. Modes and actions change it; components
 * subscribe to its stores.
 */
export class Engine {
  readonly viewport = new Viewport()
  readonly selection = createStore<Selection | null>(null)
  readonly session = createStore<EditSession | null>(null)
  readonly preview = createStore<Preview | null>(null)
  /** Column widths during a resize, by field id. */
  readonly widths = createStore<ReadonlyMap<string, number>>(new Map())
  /** Text for the live region. */
  readonly announcement = createStore('')
  readonly mode = createStore<Mode>({ name: 'idle' })
  readonly checks = new Checks(this)
  readonly followed = new FollowedRecords(this)
  layout: ColumnLayout = layoutColumns([], 0, 0)
  columns: readonly ResolvedColumn[] = []
  /** People by user id. */
  people: ReadonlyMap<string, Person> = new Map()
  /** The focused text area while cells are selected; null before the first render. */
  receiver: HTMLTextAreaElement | null = null
  /** True while the grid focuses itself; only focus by Tab selects a cell. */
  isTakingFocus = false
  /** True if the last press was on the only selected cell. */
  pressedOnActive = false
  /** The open editor. */
  editor: EditorHandle | null = null
  /** The column in which a run of Tabs started and the cell it reached; null outside a run. */
  private tabRun: { start: number; cell: CellPosition } | null = null
  private current: GridProps | null = null
  private given: GridCommands | null = null
  private idle = (): Mode => ({ name: 'idle' })
  private revision = 0
  private laidOut: { parts: readonly unknown[]; lines: RowLines } | null = null

  constructor() {
    // Any other change of the selection ends the run of Tabs.
    this.selection.subscribe(() => {
      const selection = this.selection.get()
      const reached = this.tabRun?.cell
      const cell = selection && isSingleCell(selection) ? activeCell(selection) : null
      if (cell?.row !== reached?.row || cell?.column !== reached?.column) this.tabRun = null
    })
  }

  /** The latest props. Set by the first render, before any event. */
  get props(): GridProps {
    if (!this.current) throw new Error('The grid was used before it was drawn')
    return this.current
  }

  /** From now on input is handled. @param idle creates the idle mode, to which all others return */
  start(idle: () => Mode, commands: GridCommands): void {
    this.given = commands
    this.idle = idle
    this.mode.set(idle())
  }

  /** The owner's commands; set before any input is handled. */
  get commands(): GridCommands {
    if (!this.given) throw new Error('Input was handled before the grid had its commands')
    return this.given
  }

  get size(): GridSize {
    return { rows: this.props.source.rowCount ?? UNKNOWN_ROWS, columns: this.columns.length }
  }

  get rowHeight(): number {
    return ROW_HEIGHTS[this.props.rowHeight]
  }

  /** Positions of the rows. Keeps its identity until they change. */
  get lines(): RowLines {
    const { groups } = this.props
    const parts = [this.size.rows, this.rowHeight, groups?.tree, groups?.collapsed, groups?.addRow]
    if (this.laidOut && parts.every((part, at) => part === this.laidOut?.parts[at])) return this.laidOut.lines
    const [rowCount, rowHeight] = [this.size.rows, this.rowHeight]
    const lines = groups
      ? layOutGroups({
          tree: groups.tree,
          collapsed: groups.collapsed,
          rowCount,
          rowHeight,
          canAdd: groups.addRow !== null,
        })
      : plainLines(rowCount, rowHeight)
    this.laidOut = { parts, lines }
    return lines
  }

  /** Takes the props of a render. @param revision increases when the order of the rows may have changed */
  sync(props: GridProps, columns: readonly ResolvedColumn[], layout: ColumnLayout, revision: number): void {
    const isOrderNew = revision !== this.revision
    this.revision = revision
    this.current = props
    this.columns = columns
    this.layout = layout
    this.refresh()
    if (isOrderNew) this.checks.follow()
  }

  /** Call after the count or order has changed: every index may refer to another record. */
  refresh(): void {
    const { source, rights } = this.props
    this.viewport.update({
      ...this.size,
      lines: this.lines,
      groupLevels: this.props.groups?.fields.length ?? 0,
      layout: this.layout,
      canAddRows: rights.addRecords && !this.hasGroups,
      requestRange: (first, last, hidden) => source.requestRange(first, last, hidden),
    })
    this.followed.follow(this.revision)
    this.followEditedCell()
    const selection = this.selection.get()
    if (selection && source.rowCount !== null)
      this.selection.set(sameOr(selection, clampSelection(selection, this.size)))
  }

  /** True if rows are grouped; each group then ends with a line for a new record. */
  get hasGroups(): boolean {
    return (this.props.groups?.tree.groups.length ?? 0) > 0
  }

  /** The nearest visible row in the direction of a step; the row itself if it is visible. */
  shownRow(row: number, from: number): number {
    const { lines } = this
    if (lines.isShown(row) || lines.shown === 0) return row
    const next = lines.placeOf(row)
    const place = row < from ? next - 1 : next
    return lines.rowOf(Math.max(0, Math.min(place, lines.shown - 1)))
  }

  rowAt(index: number): GridRow | undefined {
    return index >= 0 ? this.props.source.getRow(index) : undefined
  }

  get active(): CellPosition | null {
    const selection = this.selection.get()
    return selection && activeCell(selection)
  }

  /** Changes the selection and scrolls to a cell, by default the active one. */
  select(selection: Selection, reveal: CellPosition | null = activeCell(selection)): void {
    this.selection.set(selection)
    if (reveal) this.viewport.reveal(clampCell(reveal, this.size))
  }

  /** The selected areas for the owner. */
  areas(): CellArea[] {
    const selection = this.selection.get()
    if (!selection) return []
    return selection.ranges.flatMap((range) => {
      const { top, bottom, start, end } = boundsOf(range, this.size)
      const fieldIds = this.columns.slice(start, end + 1).map(({ fieldId }) => fieldId)
      return this.runsOf(range.kind, top, bottom).map(({ first, last }) => ({
        firstRow: first,
        lastRow: last,
        fieldIds,
      }))
    })
  }

  /** Rows of a range. Rows in collapsed groups count only if whole columns or all cells are selected. */
  runsOf(kind: RangeKind, first: number, last: number): Span[] {
    const isWhole = kind === 'columns' || kind === 'all'
    return isWhole ? [{ first, last }] : shownRuns(this.lines, { first, last })
  }

  enter(mode: Mode): void {
    this.mode.get().leave?.(this)
    this.mode.set(mode)
    mode.enter?.(this)
  }

  toIdle(): void {
    if (this.mode.get().name !== 'idle') this.enter(this.idle())
  }

  /** Focuses the grid. */
  focus(): void {
    this.isTakingFocus = true
    this.receiver?.focus({ preventScroll: true })
    this.isTakingFocus = false
  }

  /** True while keys go to the selected cells. */
  get hasFocus(): boolean {
    return this.receiver !== null && document.activeElement === this.receiver
  }

  /** Announces why a cell is read-only. */
  explainReadOnly({ row, column }: CellPosition): void {
    const field = this.columns[column]?.field
    if (!this.rowAt(row)) this.announce(m.grid_this_record_is_still_loading())
    else if (field && !this.canEdit(column)) {
      this.announce(m.grid_field_is_read_only({ field: field.title }))
    }
  }

  announce(text: string): void {
    // Screen readers skip an identical text: append a no-break space to repeat it.
    this.announcement.set(this.announcement.get() === text ? `${text}\u00a0` : text)
  }

  canEdit(column: number): boolean {
    return this.props.rights.editRecords && this.columns[column]?.editable === true
  }

  /** Writes one cell if the value differs. */
  setCell(row: number, fieldId: string, value: CellValue): void {
    const record = this.rowAt(row)
    if (!record || Object.is(record.values(fieldId), value)) return
    this.setCells([{ rowIndex: row, recordId: record.id, fieldId, value }])
  }

  setCells(cells: CellWrite[]): void {
    if (cells.length > 0) this.commands.setCells(cells)
  }

  /** Clears the cells of areas, by default the selected ones, that may be written; false if there are none. */
  clear(cleared: readonly CellArea[] = this.areas()): boolean {
    const editable = new Set(this.columns.filter((_, at) => this.canEdit(at)).map(({ fieldId }) => fieldId))
    const areas = cleared
      .map((area) => ({ ...area, fieldIds: area.fieldIds.filter((id) => editable.has(id)) }))
      .filter((area) => area.fieldIds.length > 0)
    if (areas.length === 0) return false
    this.commands.clearCells(areas)
    const count = areas.reduce(
      (sum, { firstRow, lastRow, fieldIds }) => sum + (lastRow - firstRow + 1) * fieldIds.length,
      0,
    )
    this.announce(m.grid_cells_cleared({ count }))
    return true
  }

  /** Adds a record under the active one, or at the end, and selects it; false without the right. */
  addRow({ atEnd = false } = {}): boolean {
    if (!this.props.rights.addRecords) return false
    const { active } = this
    const next = active && !atEnd ? (this.rowAt(active.row + 1)?.id ?? null) : null
    const row = this.commands.addRow(next, atEnd ? undefined : active?.row)
    if (row === null) return true
    this.refresh()
    this.select(selectCell({ row, column: atEnd ? 0 : (active?.column ?? 0) }))
    this.focus()
    return true
  }

  /** The column in which the next row starts: the first of the run of Tabs, or the active one. */
  get rowStart(): number {
    return this.tabRun?.start ?? this.active?.column ?? 0
  }

  /** The open editor's content; null without an editor. */
  draft(): Draft | null {
    return this.editor?.read() ?? null
  }

  /** Moves the selection after a commit or Tab. */
  moveAfter(move: Move, from: CellPosition): void {
    const run = this.tabRun
    // As in a spreadsheet, Enter after a run of Tabs continues in the next row, at the run's first column.
    const isNextRow = move === 'down' && run !== null && from.row + 1 < this.size.rows
    const target = moved(isNextRow ? { ...from, column: run.start } : from, move, this.size)
    if (!target) return
    const cell = { ...target, row: this.shownRow(target.row, from.row) }
    const start = run?.start ?? from.column
    if (move === 'next' || move === 'previous') this.tabRun = { start, cell }
    this.select(selectCell(cell))
  }

  /** Moves the open editor to the current row of its record and the current column of its field. */
  private followEditedCell(): void {
    const session = this.session.get()
    if (!session) return
    const row = this.props.source.indexOf(session.recordId) ?? session.row
    const column = this.columns.findIndex(({ fieldId }) => fieldId === session.fieldId)
    // Without a column, the editor unmounts and ends the session.
    if (column >= 0 && (row !== session.row || column !== session.column))
      this.session.set({ ...session, row, column })
  }
}

function moved(from: CellPosition, move: Move, size: GridSize): CellPosition | null {
  if (move === 'stay') return null
  if (move === 'down') return clampCell({ ...from, row: from.row + 1 }, size)
  if (move === 'up') return clampCell({ ...from, row: from.row - 1 }, size)
  return tabFrom(from, move === 'previous', size)
}

/** Keeps the identity of an unchanged selection, so that nothing renders. */
const sameOr = (before: Selection, after: Selection | null): Selection | null =>
  after && JSON.stringify(before) === JSON.stringify(after) ? before : after

const EngineContext = createContext<Engine | null>(null)

export const EngineProvider = EngineContext.Provider

/** The engine of the surrounding grid. */
export function useEngine(): Engine {
  const engine = useContext(EngineContext)
  if (!engine) throw new Error('A part of the grid was used outside of it')
  return engine
}

/** The element under a pointer, as named by the nearest `data-part`. */
export type Part =
  | 'cell'
  | 'rowNumber'
  | 'rowHandle'
  | 'rowCheck'
  | 'rowExpand'
  | 'header'
  | 'headerMenu'
  | 'resize'
  | 'corner'
  | 'freezeDivider'
  | 'fillHandle'
  | 'addRow'
  | 'addField'
  | 'summary'
  | 'retry'
  | 'discard'
  | 'group'
  | 'none'

export interface Hit {
  part: Part
  /** The element that carries `data-part`. */
  element: HTMLElement
  /** -1 if the part has no row. */
  row: number
  column: number
}

/** Pointer state; a drag repeats the last one while the grid scrolls under it. */
export interface Pointer {
  clientX: number
  clientY: number
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
}

/** The grid's current interaction, which handles keys and pointers. Exactly one is active, and all return to idle. */
export interface Mode {
  readonly name:
    | 'idle'
    | 'editing'
    | 'composing'
    | 'selecting'
    | 'filling'
    | 'resizing'
    | 'movingColumn'
    | 'movingRow'
  enter?(engine: Engine): void
  leave?(engine: Engine): void
  /** True if the key was handled and must have no other effect. */
  onKeyDown?(event: KeyboardEvent, engine: Engine): boolean
  onPointerDown?(hit: Hit, event: PointerEvent, engine: Engine): void
  onDoubleClick?(hit: Hit, event: MouseEvent, engine: Engine): void
}
