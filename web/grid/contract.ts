import type { ReactNode, Ref } from 'react'
import type { Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId, RowHeight, Sort } from '../../src/core/model.ts'
import type { FileTarget } from '../attachments/file-target.ts'
import type { LinkTarget } from '../cells/cell.ts'
import type { CollapsedGroups, GroupNode, GroupTree } from './groups/tree.ts'
import type { Span } from './layout.ts'
import type { Bounds } from './selection.ts'

/**
 * The grid's contract with its owner: a source of rows (`GridSource`), the operations it may request
 * (`GridCommands`) and the columns to draw (`GridColumn`). Nothing here speaks of a network, so the
 * same grid draws a table, an import preview and a list that lives in memory.
 */

/**
 * One record as the grid draws it. Identity is the change signal: a source hands out the *same*
 * object until something in it changed, and a new one from then on.
 */
export interface GridRow {
  readonly id: RecordId
  /** Value of a field; null if it is empty. */
  values(fieldId: string): CellValue
  /**
   * - `new`: local, not sent yet (it becomes a record with its first value)
   * - `saving`: shown at once, not confirmed yet
   * - `failed`: refused; see `failedCells` and `message`
   * - `unmatched`: no longer fits the filter or the order, kept in place until the person leaves it
   */
  readonly state?: 'saving' | 'failed' | 'new' | 'unmatched'
  /** Why a cell was refused, by field id. The value drawn is the one that the person typed. */
  readonly failedCells?: ReadonlyMap<string, string>
  /** A problem of the whole row: `Title is required`. */
  readonly message?: string
  /** Shown as a chip beside the row number. */
  readonly commentCount?: number
}

/** Gives the colour of a row: of a bar at its start, or of its whole ground. */
export type RowColorOf = (row: GridRow) => { color: string; isBackground: boolean } | null

/** Rows wanted in full, for the clipboard and for checking a run of rows. */
export interface RangeRequest {
  first: number
  /** Included. */
  last: number
  /** Empty: only the ids are needed. */
  fieldIds: string[]
  signal?: AbortSignal
  onProgress?: (done: number, total: number) => void
}

/** Where rows come from. Row indices count from 0 in the order of the view. */
export interface GridSource {
  /** Null while unknown: the grid then draws a screenful of skeletons. */
  readonly rowCount: number | null
  /** Undefined: not loaded, drawn as a skeleton. Called for every visible row, so it must be quick. */
  getRow(index: number): GridRow | undefined
  /** Index of a loaded record; undefined when it is not loaded. Keeps the selection on its record. */
  indexOf(id: RecordId): number | undefined
  /**
   * The rows that are or will soon be in sight. Idempotent and called on every scroll step; the
   * source debounces, loads and drops loads that are no longer wanted. `hidden`: those of them that are
   * not shown, because their groups are closed.
   */
  requestRange(first: number, last: number, hidden?: readonly Span[]): void
  /** `onChange` runs when `getRow(index)` would answer something else. */
  subscribeRow(index: number, onChange: () => void): () => void
  /** `onChange` runs when the count or the order changed: every index may mean another record. */
  subscribe(onChange: () => void): () => void
  /** `onChange` runs when any row was loaded or shows another value. Comes in bursts. */
  subscribeValues(onChange: () => void): () => void
  /**
   * The rows of records as they stand now, loaded or not; a record that the view no longer shows is left out.
   * Lets the selection follow its records. Rejects with the signal's reason when aborted.
   */
  locate(ids: readonly RecordId[], signal: AbortSignal): Promise<ReadonlyMap<RecordId, number>>
  /** Reads rows whether loaded or not. Rejects with the signal's reason when aborted. */
  readRange(request: RangeRequest): Promise<GridRow[]>
}

/** One column, in the order shown. Keep the object's identity while nothing in it changed. */
export interface GridColumn {
  field: Field
  /** Pixels. */
  width: number
  /** The footer's summary: what it is called and its value as text, e.g. `{ label: 'Sum', value: '1,204' }`. */
  summary?: { key?: string; label: string; value: string } | null
  sorted?: 'asc' | 'desc' | null
  filtered?: boolean
  grouped?: boolean
  /** False where this person may not write the field. Fields of read-only types never can be. */
  editable?: boolean
}

/** This person's rights. Controls without the right are not shown. */
export interface GridRights {
  editRecords: boolean
  addRecords: boolean
  deleteRecords: boolean
  /** True, or the reason why not: `Remove the sort to move records by hand`. */
  moveRecords: true | string
  /** Width, order, freezing and hiding of columns. */
  arrangeColumns: boolean
  addFields: boolean
}

/** A value for a cell. `recordId` is undefined where the row is not loaded: find it by its index. */
export interface CellWrite {
  rowIndex: number
  recordId: RecordId | undefined
  fieldId: string
  value: CellValue
}

/** A block of cells by position; rows may be unloaded and count up to the whole table. */
export interface CellArea {
  firstRow: number
  /** Included. */
  lastRow: number
  fieldIds: string[]
}

/** Records chosen with the check boxes. `all` stays true for rows that are not loaded. */
export type CheckedRows =
  | { kind: 'some'; ids: ReadonlySet<RecordId> }
  | { kind: 'all'; except: ReadonlySet<RecordId> }

/** Numbers for the status line while more than one cell is selected. */
export interface SelectionStatus {
  cells: number
  rows: number
  /** How many of the cells hold a number. */
  numbers: number
  sum: number
  /** Null without numbers. */
  average: number | null
  /** False where rows that are not loaded take part, so that the numbers are of a part only. */
  complete: boolean
}

/** Where a menu opens. */
export interface MenuAnchor {
  /** The element that the menu hangs on, and that gets the focus back. */
  element: HTMLElement
  /** Where a right click was; absent for keyboard and buttons. */
  point?: { x: number; y: number }
}

/** A cell menu's subject: the cell under the pointer, and everything that is selected with it. */
export interface CellMenuRequest extends MenuAnchor {
  rowIndex: number
  recordId: RecordId | undefined
  /** Null on the row number. */
  fieldId: string | null
  areas: CellArea[]
}

/**
 * Operations the grid requests from its owner. Each call is ONE user action: one request, one entry
 * for undo. The owner shows it at once through the source and does not keep the grid waiting.
 */
export interface GridCommands {
  setCells(cells: CellWrite[]): void
  /** Empties cells by position: an area may span the whole table, so it is not spelled out. */
  clearCells(areas: CellArea[]): void
  /**
   * Offers a new record, ahead of `before` or at the end. The owner decides whether it stays local
   * until its first value. Gives the row's index, which the grid then selects; null: refused. `beside`: a
   * row whose group it is to be in.
   */
  addRow(before: RecordId | null, beside?: number): number | null
  deleteRows(ids: RecordId[]): void
  /** Moves records ahead of `before`; null: to the end. `into`: the group that they are to be in. */
  moveRows(ids: RecordId[], before: RecordId | null, into?: GroupNode): void
  /**
   * Writes a paste. The plan names what needs a question (rows beyond the end, columns beyond the
   * last, unknown select options, texts that do not fit); the owner asks, then writes all at once.
   * Gives the number of cells written, for the announcement; null: cancelled.
   */
  paste(plan: PastePlan): Promise<number | null>
  /** Lists texts that a fill did not write because their fields cannot hold them. */
  leftOut(rejected: readonly RejectedText[]): void
  resizeColumns(widths: { fieldId: string; width: number }[]): void
  /** Moves columns ahead of `before`; null: to the end. */
  moveColumns(fieldIds: string[], before: string | null): void
  /** Keeps the first `count` columns in place. */
  freezeColumns(count: number): void
  /** Opens the record; `fieldId` is the cell it was opened from. */
  expandRow(rowIndex: number, fieldId: string | null): void
  addField(anchor: MenuAnchor): void
  editField(fieldId: string, anchor: MenuAnchor): void
  openHeaderMenu(fieldId: string, anchor: MenuAnchor): void
  openSummaryMenu(fieldId: string, anchor: MenuAnchor): void
  openCellMenu(request: CellMenuRequest): void
  /** Creates a select option; resolves true once it may be used. Absent: not allowed. */
  createOption?(fieldId: string, title: string): Promise<boolean>
  /** The place that files for a cell go to; absent where records cannot keep any. */
  fileTarget?(recordId: RecordId, fieldId: string): FileTarget | null
  /** Data access of a link cell's picker; null for other cells. */
  linkTarget?(recordId: RecordId, fieldId: string): LinkTarget | null
  /** All that a link's cell holds, by name; needed where the cell itself names only the first of many. */
  completeLinks?(recordId: RecordId, fieldId: string, signal: AbortSignal): Promise<CellValue>
  /** Adds files to a cell, showing how far they are. */
  addFiles?(target: FileTarget, files: File[]): void
  /** The value changed under an open editor: true keeps what was typed, false what came in. */
  keepMine?(conflict: { fieldId: string; mine: CellValue; theirs: CellValue }): Promise<boolean>
  /** Sends refused cells of a record again, or drops what was typed into them. */
  retry(id: RecordId): void
  discard(id: RecordId): void
  undo(): void
  redo(): void
  /** A short message for everyone to see: `12 cells copied`. */
  notify(message: string, kind: 'info' | 'error'): void
}

/** The groups in which rows stand, and what can be done with them. */
export interface GridGroups {
  /** The same object until something in it changed; so too `collapsed`. */
  readonly tree: GroupTree
  readonly collapsed: CollapsedGroups
  subscribe(onChange: () => void): () => void
  readonly levels: readonly Sort[]
  /** The field of each level. */
  readonly fields: readonly Field[]
  toggle(group: GroupNode): void
  /** Expands all groups around a row. */
  open(row: number): void
  /** Reads further groups of one; null: of the first level. */
  readMore(parent: GroupNode | null): void
  openMenu(group: GroupNode, anchor: MenuAnchor): void
  /** Adds a draft record at the end of a group and returns its row. Null: not allowed. */
  addRow: ((group: GroupNode) => number | null) | null
  /** A column's summary for a group, as text. */
  summary(column: GridColumn, group: GroupNode): string | null
}

/** The cell that typing goes to. */
export interface ActiveCell {
  rowIndex: number
  /** Undefined while the row is loading. */
  recordId: RecordId | undefined
  fieldId: string
}

/** The grid's API for toolbars, menus and dialogs. */
export interface GridHandle {
  /** Gives the grid the keyboard back, e.g. when a dialog closes. */
  focus(): void
  /** Selects a cell and brings it in sight; without a field the active column stays. */
  select(rowIndex: number, fieldId?: string): void
  /** Selects a cell and opens its editor. */
  edit(rowIndex: number, fieldId: string): void
  /** The selected areas; empty without a selection. */
  selectedAreas(): CellArea[]
  clearChecked(): void
  /** Ticks these records and no others. */
  check(ids: readonly RecordId[]): void
  /** The menu's entries; the keyboard reaches the same through the browser's own events. */
  copy(): void
  cut(): void
  /** Reads the clipboard, for which the browser may ask the person; false: it must come from Ctrl+V. */
  paste(): Promise<boolean>
  clear(): void
  fillDown(): void
  /** Fits columns to their content as a double click on the edge does. */
  fitColumns(fieldIds: string[]): void
}

export interface GridProps {
  /** Accessible name: table and view. */
  label: string
  source: GridSource
  /** Shown columns in order; the first is the display field where the view has it first. */
  columns: readonly GridColumn[]
  commands: GridCommands
  rights: GridRights
  rowHeight: RowHeight
  /** Colour of each row. Keep the function's identity while its rules do not change. */
  colorOf?: RowColorOf | null
  /** Absent: the rows stand in no groups. */
  groups?: GridGroups | null
  /** How many of the first columns stay in place; fewer do where the grid is too narrow for it. */
  frozen: number
  onSelectionStatus?: (status: SelectionStatus | null) => void
  onCheckedChange?: (checked: CheckedRows) => void
  onActiveCellChange?: (cell: ActiveCell | null) => void
  /** Shown instead of rows in an empty view: "No record matches", "Add your first record". */
  empty?: ReactNode
  /** On a phone: a tap opens the record instead of selecting. */
  tapOpensRecord?: boolean
  ref?: Ref<GridHandle>
}

/** A write of a paste; `needsOption` where its value names a select option that does not exist yet. */
interface PasteWrite extends CellWrite {
  needsOption: boolean
}

/** A text that a paste left out; `reason` where it is not simply no value of the field. */
export interface RejectedText {
  rowIndex: number
  fieldId: string
  text: string
  reason?: string
}

/** Names of records that a cell is to be linked to; `newRow` counts in `newRows`, null: a row that exists. */
export interface PasteNames {
  rowIndex: number
  recordId: RecordId | undefined
  newRow: number | null
  fieldId: string
  text: string
}

/** All that a paste would do, and all that must be asked before. Nothing has been written yet. */
export interface PastePlan {
  /** Cells of rows that exist. */
  cells: PasteWrite[]
  /** Rows beyond the last: "add n records / paste only what fits / cancel". */
  newRows: Values[]
  /** Columns beyond the last, each from the top: the texts for fields that could be added. */
  extraColumns: string[][]
  /** Texts that do not fit their field. Those cells are left as they are, and listed. */
  rejected: RejectedText[]
  /** Texts for links: the names of records, which the owner has to find. */
  names: PasteNames[]
  /** Select options that do not exist yet: "add n options". */
  newOptions: { fieldId: string; titles: string[] }[]
  /** Cells in read-only columns, passed over. */
  skipped: number
  /** Cells to select afterwards. */
  covers: Bounds
}
