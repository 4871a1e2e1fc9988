import type { ReactNode, Ref } from 'react'
import type { RecordId, RowHeight } from '../../src/core/model.ts'
import type {
  CellArea,
  CheckedRows,
  GridColumn,
  GridCommands,
  GridGroups,
  GridRights,
  GridSource,
  RowColorOf,
  SelectionStatus,
} from './source.ts'

/** The cell that typing goes to. */
export interface ActiveCell {
  rowIndex: number
  /** Undefined while the row is loading. */
  recordId: RecordId | undefined
  fieldId: string
}

/** What a toolbar, menu or dialog may ask of the grid. */
export interface GridHandle {
  /** Gives the grid the keyboard back, e.g. when a dialog closes. */
  focus(): void
  /** Selects a cell and brings it in sight; without a field the active column stays. */
  select(rowIndex: number, fieldId?: string): void
  /** Selects a cell and opens its editor. */
  edit(rowIndex: number, fieldId: string): void
  /** What is selected, as areas. Empty without a selection. */
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
  /** The colour of each row; absent: none. Keep the function while nothing in it changed. */
  colorOf?: RowColorOf | null
  /** Absent: the rows stand in no groups. */
  groups?: GridGroups | null
  /** How many of the first columns stay in place; fewer do where the grid is too narrow for it. */
  frozen: number
  onSelectionStatus?: (status: SelectionStatus | null) => void
  onCheckedChange?: (checked: CheckedRows) => void
  onActiveCellChange?: (cell: ActiveCell | null) => void
  /** Shown in place of rows when there is none: "No record matches", "Add your first record". */
  empty?: ReactNode
  /** On a phone: a tap opens the record instead of selecting. */
  tapOpensRecord?: boolean
  ref?: Ref<GridHandle>
}
