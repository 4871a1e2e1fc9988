import type { ReactNode, Ref } from 'react'
import type { StoreApi } from 'zustand'
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
 * (`GridCommands`) and the columns to draw (`GridColumn`). It is independent of the network, so the same grid
 * draws a table, an import preview and a list in memory.
 */

/** One record of the grid. Its identity signals changes: a source returns the same object until its content changes. */
export interface GridRow {
  readonly id: RecordId
  /** Value of a field; null if it is empty. */
  values(fieldId: string): CellValue
  /**
   * - `new`: local, not sent yet (it becomes a record with its first value)
   * - `saving`: shown at once, not confirmed yet
   * - `failed`: rejected; see `failedCells` and `message`
   * - `unmatched`: no longer fits the filter or the order, kept in place until the user leaves it
   */
  readonly state?: 'saving' | 'failed' | 'new' | 'unmatched'
  /** Messages of rejected cells, by field id. `values` returns the rejected input. */
  readonly failedCells?: ReadonlyMap<string, string>
  /** A problem of the whole row: `Title is required`. */
  readonly message?: string
}

/** The numbers of comments of records, for a chip beside the row number. */
export interface CommentCounts {
  /** 0 while it is unknown. */
  of(id: RecordId): number
  /** Calls `onChange` when the number has changed or became known, which subscribing makes it. */
  subscribe(id: RecordId, onChange: () => void): () => void
}

/** A cell that another person has selected or is editing. */
export interface OtherCell {
  /** Id of the person's connection. */
  id: string
  name: string
  color: string
  recordId: RecordId
  fieldId: string
  isEditing: boolean
}

/** The colour of a row, for a bar at its start or its background. */
export type RowColorOf = (row: GridRow) => { color: string; isBackground: boolean } | null

/** Rows to read completely, for the clipboard and for checking a run of rows. */
export interface RangeRequest {
  first: number
  /** Included. */
  last: number
  /** Empty: only the ids are needed. */
  fieldIds: string[]
  /** Gives no rows if they have moved, so that an index would name another record. */
  inPlace?: boolean
  signal?: AbortSignal
  onProgress?: (done: number, total: number) => void
}

/** The grid's rows. Indexes count from 0 in view order. */
export interface GridSource {
  /** Null while unknown: the grid draws a screen of skeletons. */
  readonly rowCount: number | null
  /** Undefined: not loaded, drawn as a skeleton. Called for each visible row, so it must be fast. */
  getRow(index: number): GridRow | undefined
  /** Index of a loaded record, else undefined. */
  indexOf(id: RecordId): number | undefined
  /**
   * Requests rows that are or will soon be visible. Idempotent and called on each scroll step: the source debounces,
   * loads, and drops loads no longer needed. `hidden`: rows among them in collapsed groups.
   */
  requestRange(first: number, last: number, hidden?: readonly Span[]): void
  /** Calls `onChange` when `getRow(index)` returns another object. */
  subscribeRow(index: number, onChange: () => void): () => void
  /** Calls `onChange` when the count or order has changed: every index may refer to another record. */
  subscribe(onChange: () => void): () => void
  /** Calls `onChange` when any row was loaded or changed, often in bursts. */
  subscribeValues(onChange: () => void): () => void
  /**
   * Current row indexes of records, loaded or not; records outside the view are missing. Rejects with the signal's
   * reason when aborted.
   */
  locate(ids: readonly RecordId[], signal: AbortSignal): Promise<ReadonlyMap<RecordId, number>>
  /** Reads rows whether loaded or not. Rejects with the signal's reason when aborted. */
  readRange(request: RangeRequest): Promise<GridRow[]>
}

/** A column, in the order shown. Keep its identity while it is unchanged. */
export interface GridColumn {
  field: Field
  /** Pixels. */
  width: number
  /** The footer's summary, e.g. `{ label: 'Sum', value: '1,204' }`. */
  summary?: { key?: string; label: string; value: string } | null
  sorted?: 'asc' | 'desc' | null
  filtered?: boolean
  grouped?: boolean
  /** False without the right to write the field. Fields of read-only types are never editable. */
  editable?: boolean
}

/** The user's rights. Controls without the right are hidden. */
export interface GridRights {
  editRecords: boolean
  addRecords: boolean
  deleteRecords: boolean
  /** True, or the reason: `Remove the sort to move records by hand`. */
  moveRecords: true | string
  /** Width, order, freezing and hiding of columns. */
  arrangeColumns: boolean
  addFields: boolean
}

/** A value for a cell. Without `recordId` the row is not loaded: find it by its index. */
export interface CellWrite {
  rowIndex: number
  recordId: RecordId | undefined
  fieldId: string
  value: CellValue
}

/** A block of cells by position; may include unloaded rows, up to the whole table. */
export interface CellArea {
  firstRow: number
  /** Included. */
  lastRow: number
  fieldIds: string[]
}

/** Checked records. `all` includes rows that are not loaded. */
export type CheckedRows =
  | { kind: 'some'; ids: ReadonlySet<RecordId> }
  | { kind: 'all'; except: ReadonlySet<RecordId> }

/** Numbers for the status bar while several cells are selected. */
export interface SelectionStatus {
  cells: number
  rows: number
  /** Number of cells that hold a number. */
  numbers: number
  sum: number
  /** Null without numbers. */
  average: number | null
  /** Decimals of the sum and average: those of the cells (infinite for all digits), and at least two for the average of whole numbers. */
  decimals: number
  /** False if unloaded rows are selected, so that the numbers cover only a part. */
  complete: boolean
}

/** Position of a menu. */
export interface MenuAnchor {
  /** Anchor of the menu, which gets the focus back. */
  element: HTMLElement
  /** Position of a right click; absent for keyboard and buttons. */
  point?: { x: number; y: number }
}

/** The cell under the pointer, and the selection. */
export interface CellMenuRequest extends MenuAnchor {
  rowIndex: number
  recordId: RecordId | undefined
  /** Null on the row number. */
  fieldId: string | null
  areas: CellArea[]
}

/**
 * Operations that the grid requests from its owner. Each call is one user action with one request and one
 * undo entry. The owner shows it immediately through the source, so that the grid never waits.
 */
export interface GridCommands {
  setCells(cells: CellWrite[]): void
  /** Clears cells by position: an area may span the whole table. */
  clearCells(areas: CellArea[]): void
  /**
   * Adds a draft record before `before` or at the end, and returns its row to select; null if rejected. The
   * owner decides whether it stays local until its first value. `beside`: a row in the intended group.
   */
  addRow(before: RecordId | null, beside?: number): number | null
  deleteRows(ids: RecordId[]): void
  /** Moves records before `before`; null: to the end. `into`: their new group. */
  moveRows(ids: RecordId[], before: RecordId | null, into?: GroupNode): void
  /**
   * Writes a paste. The plan lists what needs a decision (rows or columns beyond the last, unknown select options,
   * texts that do not fit); the owner asks, then writes everything at once. Returns the number of cells written; null:
   * cancelled.
   */
  paste(plan: PastePlan): Promise<number | null>
  /** Lists texts that a fill skipped because their fields cannot store them. */
  leftOut(rejected: readonly RejectedText[]): void
  resizeColumns(widths: { fieldId: string; width: number }[]): void
  /** Moves columns before `before`; null: to the end. */
  moveColumns(fieldIds: string[], before: string | null): void
  /** Freezes the first `count` columns. */
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
  /** Upload target of a cell; absent if uploads are not possible. */
  fileTarget?(recordId: RecordId, fieldId: string): FileTarget | null
  /** Data access of a link cell's picker; null for other cells. */
  linkTarget?(recordId: RecordId, fieldId: string): LinkTarget | null
  /** All links of a cell that lists only the first. */
  completeLinks?(recordId: RecordId, fieldId: string, signal: AbortSignal): Promise<CellValue>
  /** Uploads files into a cell and shows the progress. */
  addFiles?(target: FileTarget, files: File[]): void
  /**
   * Writes the value of an editor that opened with `opened`. The owner decides if another person has changed it since.
   * Absent: it is written as any other.
   */
  setEdited?(cell: CellWrite & { recordId: RecordId; opened: CellValue }): void
  /** Resends a record's rejected cells, or discards their input. */
  retry(id: RecordId): void
  discard(id: RecordId): void
  undo(): void
  redo(): void
  /** Shows a short message: `12 cells copied`. */
  notify(message: string, kind: 'info' | 'error'): void
}

/** Groups of rows, and operations on them. */
export interface GridGroups {
  /** Keeps its identity until it changes; so does `collapsed`. */
  readonly tree: GroupTree
  readonly collapsed: CollapsedGroups
  subscribe(onChange: () => void): () => void
  readonly levels: readonly Sort[]
  /** The field of each level. */
  readonly fields: readonly Field[]
  toggle(group: GroupNode): void
  /** Expands all groups around a row. */
  open(row: number): void
  /** Reads the next page of a group's subgroups; null: of the first level. */
  readMore(parent: GroupNode | null): void
  openMenu(group: GroupNode, anchor: MenuAnchor): void
  /** Adds a draft record at the end of a group and returns its row. Null: not allowed. */
  addRow: ((group: GroupNode) => number | null) | null
  /** A column's summary for a group, as text. */
  summary(column: GridColumn, group: GroupNode): string | null
}

/** The active cell, which receives typing. */
export interface ActiveCell {
  rowIndex: number
  /** Undefined while the row is loading. */
  recordId: RecordId | undefined
  fieldId: string
}

/** The grid's API for toolbars, menus and dialogs. */
export interface GridHandle {
  /** Focuses the grid, e.g. when a dialog closes. */
  focus(): void
  /** Selects a cell and scrolls to it; without a field in the active column. */
  select(rowIndex: number, fieldId?: string): void
  /** Selects a cell and opens its editor. */
  edit(rowIndex: number, fieldId: string): void
  /** The selected areas; empty without a selection. */
  selectedAreas(): CellArea[]
  clearChecked(): void
  /** Checks these records only. */
  check(ids: readonly RecordId[]): void
  /** For menus; the keyboard uses the browser's clipboard events. */
  copy(): void
  cut(): void
  /** Reads the clipboard, for which the browser may ask permission; false if denied: use Ctrl+V. */
  paste(): Promise<boolean>
  clear(): void
  fillDown(): void
  /** Fits columns to their content, like a double click on the edge. */
  fitColumns(fieldIds: string[]): void
}

export interface GridProps {
  /** Accessible name: table and view. */
  label: string
  source: GridSource
  /** Visible columns in order. */
  columns: readonly GridColumn[]
  /** Called once, after the first content or on the first input. */
  loadCommands: () => Promise<GridCommands>
  rights: GridRights
  rowHeight: RowHeight
  /** Colour of each row. Keep the function's identity while its rules are unchanged. */
  colorOf?: RowColorOf | null
  /** Absent where records have no comments. Keep its identity. */
  comments?: CommentCounts | null
  /** Cells of other people; absent where they are not shown. */
  others?: StoreApi<readonly OtherCell[]>
  /** Absent without grouping. */
  groups?: GridGroups | null
  /** Number of frozen columns; a narrow grid freezes fewer. */
  frozen: number
  onSelectionStatus?: (status: SelectionStatus | null) => void
  onCheckedChange?: (checked: CheckedRows) => void
  onActiveCellChange?: (cell: ActiveCell | null) => void
  onEditingChange?: (isEditing: boolean) => void
  /** Shown instead of rows in an empty view: "No record matches", "Add your first record". */
  empty?: ReactNode
  /** On a phone: a tap opens the record instead of selecting. */
  tapOpensRecord?: boolean
  ref?: Ref<GridHandle>
}

/** A cell to write; `needsOption` if its value names a select option that does not exist yet. */
interface PasteWrite extends CellWrite {
  needsOption: boolean
}

/** A text skipped by a paste; without `reason`, it does not parse. */
export interface RejectedText {
  rowIndex: number
  fieldId: string
  text: string
  reason?: string
}

/** Titles of records to link to a cell; `newRow` is an index in `newRows`, null for an existing row. */
export interface PasteNames {
  rowIndex: number
  recordId: RecordId | undefined
  newRow: number | null
  fieldId: string
  text: string
}

/** Effects of a paste and the decisions that it needs, before anything is written. */
export interface PastePlan {
  /** Cells of existing rows. */
  cells: PasteWrite[]
  /** Rows beyond the last, for the question "add n records / paste only what fits / cancel". */
  newRows: Values[]
  /** Texts of columns beyond the last, for fields that could be added. */
  extraColumns: string[][]
  /** The target of each row of `extraColumns`: a row, or an index of `newRows`. */
  extraRows: { rowIndex: number; recordId: RecordId | undefined; newRow: number | null }[]
  /** Texts that do not parse as their field's type. Their cells stay unchanged. */
  rejected: RejectedText[]
  /** Titles for links, which the owner looks up. */
  names: PasteNames[]
  /** Select options that do not exist yet: "add n options". */
  newOptions: { fieldId: string; titles: string[] }[]
  /** Skipped cells in read-only columns. */
  skipped: number
  /** Cells to select afterwards. */
  covers: Bounds
}
